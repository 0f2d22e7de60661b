/** A cluster that takes time to apply and to become healthy, with its worker: it writes, and reports what it observes. */
import type { Cluster, ClusterRollback } from '../../../../src/api/generated/types.ts';
import { UNIT_PAUSED } from '../../../../src/api/status/sync-words.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import type { ClusterReport, ClusterTarget } from '../../../../src/sync/cluster-report.ts';

export const SECOND = 1000;

export interface Times {
  readonly applyMs: number;
  readonly settleMs: number;
  readonly failMs: number;
}

interface CommitContent {
  readonly commit: string;
  readonly digest: string;
}

export class SimulatedCluster {
  readonly name: string;
  environment: 'test' | 'pre' | 'prod';
  readonly labels: Readonly<Record<string, string>>;
  paused = false;
  /** A person rolled it back. */
  rollback: ClusterRollback | undefined;
  reachable = true;
  identity: 'Verified' | 'Mismatch' = 'Verified';
  lastContactAt: number | undefined;
  target: ClusterTarget | undefined;
  /** What is being applied. */
  applying: (CommitContent & { doneAt: number }) | undefined;
  /** What is applied; the digest starts with `half of` if the apply was interrupted. */
  applied: (CommitContent & { at: number }) | undefined;
  /** Transient errors, permanent errors, a plan that is held, or a paused unit that the content changes. */
  trouble: 'None' | 'Transient' | 'Permanent' | 'Held' | 'UnitPaused' = 'None';
  /** Overrides the health of good content. */
  unhealthy: 'No' | 'Progressing' | 'Failed' | 'Unknown' = 'No';
  /** An object differs from git. */
  drifted = false;
  /** Commits that the inventory in the cluster names. Two Clusters that lead to one cluster share it. */
  inventory = new Set<string>();
  /** Why the inventory cannot be read. */
  inventoryFailure: ClusterReport['failure'];
  /** Its API server answers, and refuses work because of its load. */
  overload: { readonly since: Date; readonly retryAt: Date } | undefined;
  /** Of the cluster that it leads to. */
  uid: string | undefined;
  status: Cluster['status'];
  /** Whether the controller of its objects has a deadline. */
  hasDeadline = true;
  readonly #times: Times;
  readonly #isBad: (digest: string) => boolean;

  constructor(
    name: string,
    {
      environment,
      labels,
    }: { environment: SimulatedCluster['environment']; labels: SimulatedCluster['labels'] },
    { times, isBad }: { times: Times; isBad: (digest: string) => boolean },
  ) {
    this.name = name;
    this.environment = environment;
    this.labels = labels;
    this.#times = times;
    this.#isBad = isBad;
  }

  /** Starts to write its target if it can and has to; returns what it started. A new target ends the work on the old one. */
  start(now: number): CommitContent | undefined {
    const desired = this.#desired();
    if (!desired) {
      this.applying = undefined;
      return undefined;
    }
    if (!this.#canStart(desired.digest)) return undefined;
    this.applying = { ...desired, doneAt: now + this.#times.applyMs };
    this.applied = this.applied && { ...this.applied, digest: `half of ${this.applied.digest}` };
    this.inventory.add(desired.commit);
    return desired;
  }

  #desired(): CommitContent | undefined {
    const { mode, digest, commit } = this.target ?? {};
    return mode === 'Apply' && digest !== undefined && commit !== undefined ? { digest, commit } : undefined;
  }

  #canStart(digest: string): boolean {
    const isReachable = this.reachable && this.identity === 'Verified';
    const isThere = this.applied?.digest === digest && !this.applying;
    return isReachable && this.trouble !== 'Held' && this.applying?.digest !== digest && !isThere;
  }

  /** Completes what is due by now. */
  work(now: number): CommitContent | undefined {
    const started = this.reachable ? this.start(now) : undefined;
    if (this.reachable) this.lastContactAt = now;
    const { applying } = this;
    const continues = this.reachable && this.trouble === 'None';
    if (applying && continues && now >= applying.doneAt) {
      this.applied = { commit: applying.commit, digest: applying.digest, at: now };
      this.inventory.clear();
      this.inventory.add(applying.commit);
      this.applying = undefined;
    }
    return started;
  }

  /** Its worker ends: an interrupted apply stays incomplete until a worker continues it. */
  abandon(now: number): void {
    this.target = undefined;
    if (!this.applying) return;
    this.applied = { commit: this.applying.commit, digest: `half of ${this.applying.digest}`, at: now };
    this.applying = undefined;
  }

  object(): Cluster {
    return {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name: this.name, labels: this.labels },
      spec: {
        environment: this.environment,
        paused: this.paused,
        pauses: [],
        ...optional('rollback', this.rollback),
        deletion: { protection: true, policy: 'Orphan', force: false, timeoutSeconds: 1800 },
      },
      ...(this.status ? { status: this.status } : {}),
    };
  }

  report(now: number): ClusterReport {
    const { lastContactAt, inventory, target } = this;
    return {
      reachable: this.reachable,
      identity: this.identity,
      ...optional('clusterUID', this.uid),
      synced: { status: this.#isSynced() ? 'True' : 'Unknown', reason: 'Seen', message: '' },
      ...optional('lastContactAt', lastContactAt === undefined ? undefined : new Date(lastContactAt)),
      ...(this.inventoryFailure ? { failure: this.inventoryFailure } : { commits: [...inventory] }),
      ...(this.overload ? overloadReport(this.overload) : {}),
      ...optional('work', target?.digest === undefined ? undefined : this.#workOn(target.digest)),
      ...optional('health', this.health(now)),
    };
  }

  #isSynced(): boolean {
    const digest = this.target?.digest;
    const isThere = digest !== undefined && this.applied?.digest === digest;
    return isThere && !this.applying && !this.drifted;
  }

  #workOn(digest: string): NonNullable<ClusterReport['work']> {
    const { applied, applying, trouble } = this;
    const objects = { total: 1, applied: 0, pruned: 0, failed: 0 };
    const writing = {
      digest,
      reason: 'Applying',
      message: 'objects are being written',
      objects,
      failures: [],
    };
    if (applied?.digest === digest && !applying) return { ...writing, state: 'Applied' };
    if (trouble === 'Held') {
      return { ...writing, state: 'Held', reason: 'DeletesHeld', message: 'deletes 40 of 50 objects' };
    }
    if (trouble === 'UnitPaused') {
      const failures = [{ object: 'ConfigMap/a', reason: UNIT_PAUSED, message: 'update: changed in git' }];
      return { ...writing, state: 'Applying', reason: UNIT_PAUSED, message: 'unit app is paused', failures };
    }
    return { ...writing, ...(applying ? errorsOf(trouble, objects) : { state: 'Applying' }) };
  }

  /** The real health of the cluster, while it is reachable. */
  health(now: number): ClusterReport['health'] {
    if (!this.applied || this.applying || !this.reachable) return undefined;
    const observed = { digest: this.applied.digest, observedAt: new Date(now) };
    if (this.unhealthy === 'Unknown') {
      return { ...observed, answer: 'Unknown', reason: 'ViewLost', because: 'the watch is frozen' };
    }
    const blocker = { kind: 'Deployment', name: 'app' };
    const answer = this.#answer(now - this.applied.at);
    if (answer === 'Settled') return { ...observed, answer, because: 'all objects are healthy' };
    return answer === 'Failed'
      ? {
          ...observed,
          answer,
          reason: 'ProgressDeadlineExceeded',
          because: 'Deployment app: it does not start',
          blocker,
        }
      : {
          ...observed,
          answer,
          reason: 'RollingOut',
          because: 'Deployment app: rolling out',
          blocker,
          hasDeadline: this.hasDeadline,
        };
  }

  #answer(age: number): 'Settled' | 'Progressing' | 'Failed' {
    const isBad = this.applied !== undefined && this.#isBad(this.applied.digest);
    const { settleMs, failMs } = this.#times;
    if (this.unhealthy === 'Failed' || (isBad && age >= failMs)) return 'Failed';
    const isGood = !isBad && age >= settleMs;
    return isGood && this.unhealthy === 'No' ? 'Settled' : 'Progressing';
  }
}

function overloadReport({
  since,
  retryAt,
}: NonNullable<SimulatedCluster['overload']>): Partial<ClusterReport> {
  const message = `refused until ${retryAt.toISOString()}`;
  return { overloadedSince: since, failure: { reason: 'TooManyRequests', message, retryAt } };
}

type Work = NonNullable<ClusterReport['work']>;

function errorsOf(
  trouble: SimulatedCluster['trouble'],
  objects: Work['objects'],
): Partial<Work> & Pick<Work, 'state'> {
  if (trouble === 'None' || trouble === 'Held' || trouble === 'UnitPaused') return { state: 'Applying' };
  const failed = { ...objects, failed: 1 };
  return trouble === 'Permanent'
    ? { state: 'Failed', reason: 'Invalid', message: 'spec.replicas: must be a number', objects: failed }
    : {
        state: 'Applying',
        objects: failed,
        failures: [{ object: 'ConfigMap/a', reason: 'ServerError', message: 'etcd is unavailable' }],
      };
}
