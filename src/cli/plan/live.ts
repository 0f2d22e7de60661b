/** Previews a commit on each cluster of the hub by dry run, where the user has the permission. */

import { createCallWindow } from '../../defender/facts/call-window.ts';
import type { Client } from '../../kube/client/client.ts';
import { optional } from '../../kube/objects/optional.ts';
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import { messageOf } from '../../os/errors.ts';
import { scopedToHub } from '../../sync/hub-scope.ts';
import { encryptedKeys } from '../../sync/preview/encrypted.ts';
import {
  abandonedTarget,
  compareCommits,
  type Preview,
  type PreviewLimits,
  type TargetPreview,
  withHubScope,
} from '../../sync/preview/preview.ts';
import { emptyTargetFor, HUB_TARGET, type Rendered } from '../../sync/rendered.ts';
import { type ConnectionFlags, connectFrom } from '../connection.ts';
import type { Io } from '../io.ts';
import { printWarnings } from '../output.ts';
import { previewOnCluster, previewOnHub } from './cluster.ts';
import { previewFleetLimits } from './fleetlimits/preview.ts';
import { hostedChangeNotes, hostedClusters } from './hosted-changes.ts';
import {
  abandonedClusters,
  limitsInForce,
  onlyPipeline,
  ownClusters,
  type PlanHub,
  readPlanHub,
} from './hub.ts';
import { hubNotes } from './hub-notes.ts';
import type { PlanPorts } from './ports.ts';
import { withUnreadMachines } from './rollouts/unread.ts';

export interface PreviewSides {
  readonly from: Rendered | undefined;
  readonly to: Rendered;
  readonly limits: PreviewLimits;
  /** The Pipeline that the commit is promoted by. Default: the only one of the hub. */
  readonly pipeline?: string | undefined;
}

/** Returns the targets as a plan shows them: the hub first, and machines as unknown where no cluster was read. */
export function shownTargets(targets: readonly TargetPreview[]): readonly TargetPreview[] {
  return targets
    .toSorted((a, b) => Number(b.target === HUB_TARGET) - Number(a.target === HUB_TARGET))
    .map(withUnreadMachines);
}

/** Tells what becomes of hosted control planes, as far as it is known without the hub. */
export function hostedNotesByCommits(
  { from, to }: Pick<PreviewSides, 'from' | 'to'>,
  now: Date,
): readonly string[] {
  return from ? hostedChangeNotes(hostedClusters(from), to, now) : [];
}

/** Compares commit to commit, without reading a cluster. */
export function compareSides({ from, to, limits, pipeline }: PreviewSides): TargetPreview[] {
  return pipeline === undefined
    ? compareCommits(from, to, limits)
    : compareCommits(withHubScope(from, pipeline), withHubScope(to, pipeline), limits);
}

export interface PlannedTargets extends Pick<Preview, 'fleetLimits'> {
  readonly targets: readonly TargetPreview[];
}

/** Adds what the commit means under the limits over clusters. Without a hub, what only the hub has is not known. */
export function withFleetLimits(
  targets: readonly TargetPreview[],
  { from, to }: Pick<PreviewSides, 'from' | 'to'>,
  { hub, now }: { readonly hub?: PlanHub; readonly now: Date },
): PlannedTargets {
  const fleetLimits = previewFleetLimits({ from, to, targets, now, ...optional('hub', hub) });
  return { targets, ...optional('fleetLimits', fleetLimits) };
}

/** Previews the change on each cluster of the hub that the flags name, or from commit to commit if the hub cannot be read. */
export async function previewOnClusters(
  io: Io,
  flags: ConnectionFlags,
  sides: PreviewSides,
): Promise<PlannedTargets> {
  const hub = await openHub(io, flags);
  const now = io.clock.now();
  if (typeof hub === 'string') {
    printWarnings(io, hostedNotesByCommits(sides, now));
    const byCommits = compareSides(sides).map((target) => ({ ...target, because: hub }));
    return withFleetLimits(shownTargets(byCommits), sides, { now });
  }
  const warn = (warnings: readonly string[]): void => printWarnings(io, warnings);
  const ports = { ...io, warn, explain: messageOf };
  try {
    return withFleetLimits(shownTargets(await previewOnClustersOf(hub, ports, sides)), sides, { hub, now });
  } finally {
    await hub.client.close();
  }
}

/** Opens the hub, or returns the reason why it cannot be used. */
async function openHub(io: Io, flags: ConnectionFlags): Promise<PlanHub | string> {
  let client: Client | undefined;
  try {
    const calls = createCallWindow(io.clock);
    client = await connectFrom(io, flags, (report) => calls.add(report));
    return await readPlanHub({ client, calls }, io.signal);
  } catch (error) {
    await client?.close();
    return `the hub could not be read: ${messageOf(error)}`;
  }
}

/**
 * Previews the change on each cluster of the hub. The user may not be allowed to write objects of the hub itself: what is written to it is
 * compared commit to commit, and what is deleted is read from its inventory.
 */
export async function previewOnClustersOf(
  hub: PlanHub,
  ports: PlanPorts,
  sides: PreviewSides,
): Promise<readonly TargetPreview[]> {
  const { to } = sides;
  const pipeline = sides.pipeline ?? onlyPipeline(hub);
  ports.warn(hubNotes(hub, pipeline, ports.clock.now()));
  ports.warn(hostedChangeNotes(hub.clusters, to, ports.clock.now()));
  const limits = limitsInForce(hub, pipeline, sides.limits);
  const byCommits = [...compareSides({ ...sides, limits, pipeline })];
  const abandoned = abandonedClusters(hub, to, pipeline);
  const named = new Set(byCommits.map(({ target }) => target));
  const others = ownClusters(hub, pipeline).filter((name) => !named.has(name));
  // Concurrently: a cluster that does not answer must not delay the others.
  const [previews, leftovers] = await Promise.all([
    runConcurrently(byCommits, previewUnlessAbandoned),
    runConcurrently(others.map(withoutContent), previewUnlessAbandoned),
  ]);
  // Of a cluster that neither commit names, only what earlier commits left in it is of interest.
  return [...previews, ...leftovers.filter(({ by, units }) => by === 'live' && units.length > 0)];

  async function previewUnlessAbandoned(preview: TargetPreview): Promise<TargetPreview> {
    return abandoned.has(preview.target) ? abandonedTarget(preview.target) : previewTarget(preview);
  }

  async function previewTarget(preview: TargetPreview): Promise<TargetPreview> {
    const rendered = to.targets.find((one) => one.target === preview.target);
    const target = rendered ?? emptyTargetFor(preview.target);
    if (!target) return preview;
    const before = sides.from?.targets.find((one) => one.target === preview.target);
    const input = { byCommits: preview, encryptedBefore: encryptedKeys(before), commit: to.commit, limits };
    if (preview.target === HUB_TARGET) {
      return pipeline === undefined
        ? preview
        : previewOnHub(ports, hub, pipeline, { ...input, target: scopedToHub(target, pipeline) });
    }
    const cluster = hub.clusters.find(({ metadata }) => metadata.name === preview.target);
    if (cluster) return previewOnCluster(ports, hub, cluster, { ...input, target });
    return rendered
      ? { ...preview, because: 'the cluster is not in the hub yet' }
      : { ...preview, units: [], because: 'the cluster is not in the hub' };
  }
}

function withoutContent(target: string): TargetPreview {
  return { target, by: 'commits', units: [] };
}
