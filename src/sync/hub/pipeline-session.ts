/** The open repository of a Pipeline, and the hub's own objects, which follow its newest accepted commit. */
import type { Pipeline } from '../../api/generated/types.ts';
import type { Client } from '../../kube/client/client.ts';
import type { HeldLease } from '../../kube/leader/held-lease.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { WatchMetrics } from '../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../os/clock.ts';
import { acceptedHeads } from '../accepted-heads.ts';
import type { ApplyPolicy } from '../apply/cluster-syncer.ts';
import { createClusterWorker } from '../apply/cluster-worker.ts';
import type { ClusterEvent } from '../apply/context.ts';
import type { ClusterReport } from '../cluster-report.ts';
import type { AcceptedCommits, HeadReport, HubProblem } from '../commits.ts';
import { hubScope, scopedToHub } from '../hub-scope.ts';
import { isClusterId } from '../protected-kinds.ts';
import type { CommitRenderer } from '../render/renderer.ts';
import { HUB_TARGET, type RenderedTarget } from '../rendered.ts';
import type { VerdictMemory } from './acceptance/commit-checks.ts';
import { newestReleasedCommit, unreleasedCommits } from './commit-log.ts';
import type { HubCache } from './hub-cache.ts';
import { createPipelineSource, type PipelineSource } from './pipeline-source.ts';
import { openRepository } from './repository.ts';

export interface PipelineSessionOptions {
  readonly name: string;
  readonly hub: HubCache;
  readonly hubUID: string;
  readonly connectHub: (fence?: () => void) => Promise<Client>;
  readonly lease: HeldLease;
  readonly renderer: CommitRenderer;
  /** Outlives the session. */
  readonly verdicts: VerdictMemory;
  readonly policy: (pipeline: string) => ApplyPolicy;
  /** Commits that the clusters of a Pipeline report: they may be newer than a restored hub. */
  readonly clusterCommits: (pipeline: string) => readonly string[];
  readonly gitFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
  /** About the hub's own objects. */
  readonly recordEvent?: (pipeline: string, event: ClusterEvent) => void;
  readonly onChange: () => void;
}

export interface PipelineSession {
  readonly source: PipelineSource;
  /**
   * The hub's own objects are not promoted: they follow the newest accepted commit. True when they are applied and every declared
   * Cluster is in the cache: otherwise a stage could count as empty, and its clusters would later be updated all at once.
   */
  syncHub(): Promise<boolean>;
  /** With what keeps the hub's own objects from being applied. */
  head(): HeadReport;
  accepted(mentioned: readonly string[]): Promise<AcceptedCommits>;
  close(): Promise<void>;
}

export function openPipelineSession(pipeline: Pipeline, options: PipelineSessionOptions): PipelineSession {
  const { name, hub, log, clusterCommits, onChange } = options;
  const { clusters, releases, pipelines, secrets } = hub.stores;
  const stop = new AbortController();
  const source = createPipelineSource({
    ...options,
    pipeline,
    git: openRepository(pipeline, secrets, options.gitFolder),
    appliedCommits: () => unreleasedCommits(clusterCommits(name), releases.list()),
    newestReleasedCommit: () => newestReleasedCommit(name, releases.list()),
    acceptedHeads: () => [pipelines.get(name)].flatMap((current) => (current ? acceptedHeads(current) : [])),
  });
  const hubWorker = createClusterWorker({
    ...options,
    cluster: `${HUB_TARGET} (${name})`,
    hub: options.hubUID,
    scope: hubScope(name),
    connect: options.connectHub,
    pinnedUID: () => options.hubUID,
    recordEvent: (event) => options.recordEvent?.(name, event),
    onReport() {
      logProblem();
      onChange();
    },
  });
  const polling = source.run(stop.signal);

  let reported: string | undefined;

  return {
    source,
    syncHub,
    head: () => withProblem(source.head()),
    async accepted(mentioned) {
      const accepted = await source.accepted(mentioned);
      return { ...accepted, head: withProblem(accepted.head) };
    },
    async close() {
      stop.abort();
      // First: the others may wait for a render.
      const closing = source.close();
      await hubWorker.close();
      await polling;
      await closing;
    },
  };

  function withProblem(head: HeadReport): HeadReport {
    return { ...head, ...optional('hub', hubProblem(hubWorker.report())) };
  }

  function logProblem(): void {
    const problem = hubProblem(hubWorker.report());
    const text = problem && `${problem.reason}: ${problem.message}`;
    if (text === reported) return;
    reported = text;
    if (problem) log.warn('objects of the hub not applied', { pipeline: name, ...problem });
    else log.info('objects of the hub applied', { pipeline: name });
  }

  async function syncHub(): Promise<boolean> {
    const commit = source.newestAccepted();
    if (!commit) return false;
    const content = await source.content(HUB_TARGET, commit);
    if (!content) return true;
    hubWorker.setTarget({
      mode: 'Apply',
      commit,
      content: async (of) => {
        const rendered = await source.content(HUB_TARGET, of);
        return rendered && scopedToHub(rendered, name);
      },
      pipeline: name,
      because: 'the newest accepted commit',
    });
    const { work } = hubWorker.report();
    if (work?.digest !== content.digest) return false;
    const failed = new Set(work.failures.map(({ object }) => object));
    return clustersOf(content).every(
      (id) => clusters.get(id.name) !== undefined || failed.has(objectKey(id)) || work.state === 'Held',
    );
  }
}

/** Pure. Undefined while everything is applied or on its way. */
export function hubProblem({
  failure,
  work,
}: Pick<ClusterReport, 'failure' | 'work'>): HubProblem | undefined {
  if (failure) return { state: 'Failed', reason: failure.reason, message: failure.message };
  if (!work) return undefined;
  const { reason, message } = work;
  if (work.state === 'Held') return { state: 'Held', reason, message };
  const isStuck = work.state === 'Failed' || work.failures.length > 0;
  return isStuck ? { state: 'Failed', reason, message } : undefined;
}

function clustersOf({ units }: RenderedTarget): ObjectId[] {
  const ids = units.flatMap(({ objects }) => objects.map(({ object }) => objectIdOf(object)));
  return ids.filter(isClusterId);
}
