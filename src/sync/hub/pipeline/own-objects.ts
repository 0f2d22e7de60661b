/** Keeps the objects of the hub itself, such as Clusters, at the newest accepted commit of one Pipeline: they are not promoted. */
import type { Client } from '../../../kube/client/client.ts';
import type { HeldLease } from '../../../kube/leader/held-lease.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../../kube/objects/object-id.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { WatchMetrics } from '../../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../../os/clock.ts';
import type { CommitOrigin } from '../../apply/audit/apply-audit.ts';
import type { ApplyPolicy } from '../../apply/cluster-syncer.ts';
import { createClusterWorker } from '../../apply/cluster-worker.ts';
import type { ClusterEvent } from '../../apply/context.ts';
import type { ClusterReport } from '../../cluster-report.ts';
import type { HubProblem } from '../../commits.ts';
import type { DecryptionKeys } from '../../decrypt-objects.ts';
import { hubScope, scopedToHub } from '../../hub-scope.ts';
import type { CommitSource } from '../../promote/ports.ts';
import { isClusterId } from '../../protected-kinds.ts';
import { HUB_TARGET, type RenderedTarget } from '../../rendered.ts';
import type { HubCache } from '../hub-cache.ts';

export interface OwnObjectsOptions {
  /** The name of the Pipeline. */
  readonly name: string;
  readonly hub: HubCache;
  readonly hubUID: string;
  readonly connectHub: (fence?: () => void) => Promise<Client>;
  readonly lease: HeldLease;
  readonly policy: (pipeline: string) => ApplyPolicy;
  readonly keys: (pipeline: string) => DecryptionKeys;
  readonly origin?: (pipeline: string, commit: string) => CommitOrigin;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
  readonly recordEvent?: (pipeline: string, event: ClusterEvent) => void;
  readonly onChange: () => void;
}

export interface OwnObjects {
  /**
   * Sets the commit. Returns true when its objects are applied and every Cluster that it declares is in the cache: otherwise a stage
   * could count as empty, and its clusters would later be updated all at once.
   */
  follow(commit: string, commits: Pick<CommitSource, 'content'>): Promise<boolean>;
  /** Returns what keeps the objects from being applied. */
  problem(): HubProblem | undefined;
  close(): Promise<void>;
}

export function createOwnObjects(options: OwnObjectsOptions): OwnObjects {
  const { name, hub, log, onChange } = options;
  const { clusters } = hub.stores;
  const worker = createClusterWorker({
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
  let reported: string | undefined;

  return { follow, problem: () => hubProblem(worker.report()), close: () => worker.close() };

  async function follow(commit: string, commits: Pick<CommitSource, 'content'>): Promise<boolean> {
    const desired = await commits.content(HUB_TARGET, commit);
    if (!desired) return true;
    worker.setTarget({
      mode: 'Apply',
      commit,
      content: async (of) => {
        const rendered = await commits.content(HUB_TARGET, of);
        return rendered && scopedToHub(rendered, name);
      },
      pipeline: name,
      because: 'the newest accepted commit',
    });
    const { work } = worker.report();
    if (work?.digest !== desired.digest) return false;
    const failed = new Set(work.failures.map(({ object }) => object));
    return clustersOf(desired).every(
      (id) => clusters.get(id.name) !== undefined || failed.has(objectKey(id)) || work.state === 'Held',
    );
  }

  function logProblem(): void {
    const problem = hubProblem(worker.report());
    const text = problem && `${problem.reason}: ${problem.message}`;
    if (text === reported) return;
    reported = text;
    if (problem) log.warn('objects of the hub not applied', { pipeline: name, ...problem });
    else log.info('objects of the hub applied', { pipeline: name });
  }
}

/** Returns undefined while everything is applied or on its way. Pure. */
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
