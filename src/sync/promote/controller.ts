/**
 * Carries out what plan.ts decides: writes Releases, the status of clusters and of the Pipeline, and sets the targets of the
 * cluster workers.
 *
 * Everything is recorded before anybody acts on it: first what is proven, then what a cluster is about to start, and only then
 * its target. Killed at any line, the next reconcile finds a state that it knows.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import { activeRollback } from '../../api/status/rollbacks.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { SyncTimes } from '../../observability/metrics/sync.ts';
import { httpGet } from '../../os/net/http-get.ts';
import { type CheckRunner, createCheckRunner } from '../../rollout/checks/runner.ts';
import { type CheckScheduler, createCheckScheduler } from '../../rollout/checks/scheduler.ts';
import type { AcceptedCommits, HeadReport } from '../commits.ts';
import type { ClusterPlan } from './cluster/plan.ts';
import { clusterStatus, ownStatus } from './cluster/status.ts';
import { createCommitHistory } from './commit-history.ts';
import { type PromotionEvents, recordClusterChange, recordReleaseChange } from './events.ts';
import { fencedHub } from './fenced-hub.ts';
import { observePromotion, type PromotionObservation, type PromotionSources } from './observe.ts';
import { ownPipelineStatus, sourceStatus } from './pipeline-status.ts';
import { type PromotionPlan, planPromotion } from './plan.ts';
import type { CommitSource, WriteFence } from './ports.ts';
import { deliveryEvents } from './release/delivery.ts';
import { firstStageDelay } from './release/first-stage.ts';
import { orderReleases } from './release/order.ts';
import type { ReleaseUpdate } from './release/plan.ts';
import { withStageChanges } from './release/stage-changes.ts';

export interface PromotionPorts extends PromotionSources, PromotionEvents {
  /** Runs the checks. By default they run over HTTP, without a Prometheus. */
  readonly runner?: CheckRunner;
  /** Is called when a check has a result: the Pipeline has to be reconciled. */
  readonly onCheckResult?: (pipeline: string) => void;
  readonly times?: Pick<SyncTimes, 'firstStageBegan' | 'pipelineOpened' | 'delivered'>;
}

export interface PromotionController {
  readonly name: 'promote';
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /**
   * Reconciles one Pipeline. Rejects if something could not be recorded; the next reconcile continues from there. Each write
   * asks the fence as it leaves: whether the Lease of the Pipeline is still held.
   */
  reconcile(
    pipeline: string,
    commits: CommitSource,
    fence?: WriteFence,
  ): Promise<{ readonly requeueAt?: Date }>;
  /**
   * Keeps the clusters that a person rolled back at their revisions while no commit can be read: git may be down since before this
   * process started. Every other cluster stays as it is.
   */
  rollBack(pipeline: string, commits: CommitSource, fence?: WriteFence): Promise<void>;
  /** Records what was found at the head while nothing can be promoted yet. */
  reportSource(pipeline: string, head: HeadReport, fence?: WriteFence): Promise<void>;
}

export function createPromotionController(unfenced: PromotionPorts): PromotionController {
  const { hub, clock } = unfenced;
  const runner = unfenced.runner ?? createCheckRunner({ clock, get: httpGet });
  const schedulers = new Map<string, CheckScheduler>();
  return {
    name: 'promote',
    reads: ['Pipeline', 'Cluster', 'Release'],
    writes: ['Release', 'Release.status', 'Cluster.status', 'Pipeline.status'],
    reconcile,
    rollBack,
    async reportSource(name, head, fence) {
      const pipeline = await hub.pipeline(name);
      if (!pipeline) return;
      const own = ownPipelineStatus(pipeline.status);
      const changed = withNewStatus(pipeline, sourceStatus(pipeline, head, clock.now()), own);
      if (changed) await hub.applyPipelineStatus(changed, fence);
    },
  };

  async function reconcile(
    name: string,
    commits: CommitSource,
    fence?: WriteFence,
  ): Promise<{ readonly requeueAt?: Date }> {
    const ports = fence ? { ...unfenced, hub: fencedHub(hub, fence) } : unfenced;
    const pipeline = await hub.pipeline(name);
    if (!pipeline) return {};
    const stages = pipeline.spec.stages.map((stage) => stage.name);
    unfenced.times?.pipelineOpened(name, stages);
    const checks = schedulerOf(name);
    const observation = await observePromotion(ports, pipeline, { commits, checks });
    const plan = planPromotion(observation.snapshot, observation.head);

    const proofFailures = await runAll(releaseWrites(ports, plan, { ...observation, commits }));
    const clusters = await writeClusters(ports, plan, observation, proofFailures.length === 0);
    for (const cluster of clusters.ready) setTarget(cluster, commits);
    const otherFailures = await runAll(otherWrites(ports, pipeline, plan));

    for (const cluster of clusters.written) dropRecorded(checks, cluster);
    startChecks(checks, plan);
    const failures = [...proofFailures, ...clusters.failures, ...otherFailures];
    throwIfFailed(name, failures);
    return optional('requeueAt', plan.requeueAt);
  }

  async function rollBack(name: string, commits: CommitSource, fence?: WriteFence): Promise<void> {
    const ports = fence ? { ...unfenced, hub: fencedHub(hub, fence) } : unfenced;
    const pipeline = await hub.pipeline(name);
    const present = (await hub.clusters()).filter((cluster) => activeRollback(cluster) !== undefined);
    if (!pipeline || present.length === 0) return;
    const unread: CommitSource = { ...commits, accepted: async () => NOTHING_READ };
    const observation = await observePromotion(ports, pipeline, {
      commits: unread,
      checks: schedulerOf(name),
    });
    const plan = planPromotion(observation.snapshot, observation.head);
    const clusters = plan.clusters.filter(({ target }) => target.isRollback);
    const { ready, failures } = await writeClusters(ports, { ...plan, clusters }, observation, true);
    for (const cluster of ready) setTarget(cluster, commits);
    throwIfFailed(name, failures);
  }

  function setTarget({ name, target, sync, member }: ClusterPlan, commits: CommitSource): void {
    const observeAt = sync.state === 'Soaking' ? member.progress.until : undefined;
    const content = (commit: string): ReturnType<CommitSource['content']> => commits.content(name, commit);
    unfenced.clusters.setTarget(name, { ...target, ...optional('observeAt', observeAt), content });
  }

  function startChecks(checks: CheckScheduler, { stages, dueChecks }: PromotionPlan): void {
    for (const { cluster, stage: stageName, check: name } of dueChecks) {
      const { stage } = stages.find((each) => each.stage.name === stageName) ?? {};
      const check = stage?.checks.find((each) => each.name === name);
      if (check) checks.start(check, { name: cluster, health: unfenced.clusters.report(cluster)?.health });
    }
  }

  function schedulerOf(pipeline: string): CheckScheduler {
    const known = schedulers.get(pipeline);
    const scheduler = known ?? createCheckScheduler(runner, clock, () => unfenced.onCheckResult?.(pipeline));
    schedulers.set(pipeline, scheduler);
    return scheduler;
  }
}

const NOTHING_READ: AcceptedCommits = {
  commits: [],
  head: { verdict: 'Accepted', unread: 'the repository has not been read yet' },
};

function throwIfFailed(pipeline: string, failures: readonly WriteFailure[]): void {
  if (failures.length === 0) return;
  throw new AggregateError(
    failures.map(({ error }) => error),
    `promotion of Pipeline ${pipeline} failed`,
  );
}

interface ClusterWrites {
  /** The clusters whose target may be set now: all that continue, and those that start and are recorded. */
  readonly ready: readonly ClusterPlan[];
  readonly written: readonly ClusterPlan[];
  readonly failures: readonly WriteFailure[];
}

/**
 * Writes the status of the clusters. A start depends on proofs, of Releases and of clusters: until those are recorded, no cluster
 * starts.
 */
async function writeClusters(
  ports: PromotionPorts,
  plan: PromotionPlan,
  observation: PromotionObservation,
  areProofsRecorded: boolean,
): Promise<ClusterWrites> {
  const owned = plan.clusters.filter(({ name }) => observation.owned.has(name));
  const continuing = owned.filter(({ starts }) => !starts);
  const write = (cluster: ClusterPlan): PlannedWrite => clusterWrite(ports, cluster, observation);
  const continuingFailures = await runAll(continuing.map(write));
  const starting = areProofsRecorded ? startable(owned, continuingFailures) : [];
  const startingFailures = await runAll(starting.map(write));
  const failures = [...continuingFailures, ...startingFailures];
  const failed = new Set(failures.map(({ key }) => key));
  const isWritten = ({ name }: ClusterPlan): boolean => !failed.has(name);
  return {
    ready: [...continuing, ...starting.filter(isWritten)],
    written: [...continuing, ...starting].filter(isWritten),
    failures,
  };
}

/**
 * Returns the clusters that may start. A starting cluster may use the slot of one that was proven now: until that is recorded,
 * the slot is taken.
 */
function startable(
  clusters: readonly ClusterPlan[],
  failures: readonly WriteFailure[],
): readonly ClusterPlan[] {
  const failed = new Set(failures.map(({ key }) => key));
  const unrecorded = clusters.filter((each) => isProvenNow(each) && failed.has(each.name));
  const stages = new Set(unrecorded.map(({ stage }) => stage));
  return clusters.filter(({ starts, stage }) => starts && !stages.has(stage));
}

function isProvenNow({ member, sync }: ClusterPlan): boolean {
  return member.recorded.soak !== undefined && sync.soak === undefined;
}

interface PlannedWrite {
  readonly key: string;
  readonly write: () => Promise<void>;
}

function releaseWrites(
  ports: PromotionPorts,
  { create, releases, stages }: PromotionPlan,
  observation: PromotionObservation & { readonly commits: CommitSource },
): readonly PlannedWrite[] {
  const { commits } = observation;
  return releases.map((planned) => ({
    key: planned.release.metadata.name,
    write: async () => {
      let { release } = planned;
      if (release === create) {
        release = await countChanges(commits, { release, stages });
        await ports.hub.createRelease(truncateToSchema(release));
      }
      const changed = withNewStatus(planned.release, planned.status);
      if (!changed) return;
      await ports.hub.applyReleaseStatus(changed);
      recordReleaseChange(ports, planned);
      if (ports.times) countDelivery(ports.times, { release, status: planned.status }, observation);
    },
  }));
}

/** Counts what is recorded now. A process that ends between the write and this loses the events of one update. */
function countDelivery(
  times: NonNullable<PromotionPorts['times']>,
  update: ReleaseUpdate,
  { head, snapshot: { pipeline, commits, releases } }: PromotionObservation,
): void {
  const seconds = firstStageDelay({ pipeline, head, update });
  if (seconds !== undefined) times.firstStageBegan(seconds);
  const ordered = orderReleases(releases, createCommitHistory(commits));
  for (const event of deliveryEvents({ pipeline, releases: ordered, update })) {
    times.delivered(pipeline.metadata.name, event);
  }
}

/** Counts the changes of a Release once, as it is created: an approval is about them. */
async function countChanges(
  commits: CommitSource,
  { release, stages }: Pick<PromotionPlan, 'stages'> & { readonly release: Release },
): Promise<Release> {
  const contents = stages.map(({ stage, members }) => ({
    stage: stage.name,
    clusters: members.map(({ name, recorded }) => ({ cluster: name, commit: recorded.commit })),
  }));
  const all = contents.flatMap(({ clusters }) => clusters);
  return withStageChanges(release, contents, await commits.changes(release.spec.commit, all));
}

function clusterWrite(
  ports: PromotionPorts,
  plan: ClusterPlan,
  { head, snapshot }: PromotionObservation,
): PlannedWrite {
  const { cluster } = plan.member.snapshot;
  const status = clusterStatus(plan, head.unread, snapshot.now);
  return {
    key: plan.name,
    write: async () => {
      const changed = withNewStatus(cluster, status, ownStatus(cluster.status));
      if (!changed) return;
      await ports.hub.applyClusterStatus(changed);
      recordClusterChange(ports, plan);
    },
  };
}

function otherWrites(
  { hub }: PromotionPorts,
  pipeline: Pipeline,
  { status, expired }: PromotionPlan,
): readonly PlannedWrite[] {
  return [
    {
      key: pipeline.metadata.name,
      write: async () => {
        const changed = withNewStatus(pipeline, status, ownPipelineStatus(pipeline.status));
        if (changed) await hub.applyPipelineStatus(changed);
      },
    },
    ...expired.map((release) => ({ key: release.metadata.name, write: () => hub.deleteRelease(release) })),
  ];
}

/**
 * Returns the object with the status to write; undefined if it has it already. The statuses consist of texts of servers, people
 * and git: this is the one place where what is longer than the hub accepts is truncated.
 */
function withNewStatus<T extends Cluster | Pipeline | Release>(
  object: T,
  status: T['status'],
  recorded = object.status,
): T | undefined {
  if (isDeepStrictEqual(recorded, status)) return undefined;
  const changed = truncateToSchema({ ...object, status });
  return isDeepStrictEqual(recorded, changed.status) ? undefined : changed;
}

function dropRecorded(checks: CheckScheduler, { name, sync }: ClusterPlan): void {
  for (const gate of sync.soak?.gates ?? []) {
    if (gate.ranAt !== undefined) checks.drop(name, gate.name, new Date(gate.ranAt));
  }
}

interface WriteFailure {
  readonly key: string;
  readonly error: unknown;
}

/** Runs the writes one after the other. One failure does not stop the other writes; all failures are reported. */
async function runAll(writes: readonly PlannedWrite[]): Promise<readonly WriteFailure[]> {
  const failures: WriteFailure[] = [];
  for (const { key, write } of writes) {
    try {
      await write();
    } catch (error) {
      failures.push({ key, error });
    }
  }
  return failures;
}
