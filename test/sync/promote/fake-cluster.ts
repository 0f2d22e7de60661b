/** A cluster that takes time to apply and to become healthy. It does what its worker would do, and says what it sees. */
import type { Cluster } from '../../../src/api/generated/types.ts';
import type { ClusterReport, ClusterTarget } from '../../../src/sync/cluster-report.ts';
import { optional } from '../../../src/sync/promote/snapshot.ts';

export const SECOND = 1000;

export interface Times {
  readonly applyMs: number;
  readonly settleMs: number;
  readonly failMs: number;
}

interface Deployed {
  readonly commit: string;
  readonly digest: string;
}

export class FakeCluster {
  readonly name: string;
  environment: 'test' | 'pre' | 'prod';
  readonly labels: Readonly<Record<string, string>>;
  paused = false;
  reachable = true;
  identity: 'Verified' | 'Mismatch' = 'Verified';
  lastContactAt: number | undefined;
  target: ClusterTarget | undefined;
  /** What is being brought there. */
  working: (Deployed & { doneAt: number }) | undefined;
  /** What is there; its digest says so when it is only half of something. */
  applied: (Deployed & { at: number }) | undefined;
  /** Errors that pass by themselves, that do not, or a hold of the judge. */
  trouble: 'None' | 'Transient' | 'Permanent' | 'Held' = 'None';
  /** Healthy content that is ill all the same. */
  ill: 'No' | 'Progressing' | 'Failed' | 'Unknown' = 'No';
  /** Somebody changed an object by hand. */
  drifted = false;
  /** Commits that the inventory in the cluster names. */
  inventory = new Set<string>();
  status: Cluster['status'];
  /** Whether what rolls out has a deadline of its own. */
  hasDeadline = true;
  readonly #times: Times;
  readonly #isBad: (digest: string) => boolean;

  constructor(
    name: string,
    { environment, labels }: { environment: FakeCluster['environment']; labels: FakeCluster['labels'] },
    { times, isBad }: { times: Times; isBad: (digest: string) => boolean },
  ) {
    this.name = name;
    this.environment = environment;
    this.labels = labels;
    this.#times = times;
    this.#isBad = isBad;
  }

  /** Starts writing, if it may and there is anything to write; what it began is told. A new target ends the work on the old one. */
  begin(now: number): Deployed | undefined {
    const wanted = this.#wanted();
    if (!wanted) {
      this.working = undefined;
      return undefined;
    }
    if (!this.#canBegin(wanted.digest)) return undefined;
    this.working = { ...wanted, doneAt: now + this.#times.applyMs };
    this.applied = this.applied && { ...this.applied, digest: `half of ${this.applied.digest}` };
    this.inventory.add(wanted.commit);
    return wanted;
  }

  #wanted(): Deployed | undefined {
    const { mode, digest, commit } = this.target ?? {};
    return mode === 'Apply' && digest !== undefined && commit !== undefined ? { digest, commit } : undefined;
  }

  #canBegin(digest: string): boolean {
    const isSeen = this.reachable && this.identity === 'Verified';
    const isThere = this.applied?.digest === digest && !this.working;
    return isSeen && this.trouble !== 'Held' && this.working?.digest !== digest && !isThere;
  }

  /** What is due by now is done. */
  work(now: number): Deployed | undefined {
    const began = this.reachable ? this.begin(now) : undefined;
    if (this.reachable) this.lastContactAt = now;
    const { working } = this;
    const goesOn = this.reachable && this.trouble === 'None';
    if (working && goesOn && now >= working.doneAt) {
      this.applied = { commit: working.commit, digest: working.digest, at: now };
      this.inventory = new Set([working.commit]);
      this.working = undefined;
    }
    return began;
  }

  /** Its worker is gone: what was half written stays half written until somebody goes on with it. */
  abandon(now: number): void {
    this.target = undefined;
    if (!this.working) return;
    this.applied = { commit: this.working.commit, digest: `half of ${this.working.digest}`, at: now };
    this.working = undefined;
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
      synced: { status: this.#isSynced() ? 'True' : 'Unknown', reason: 'Seen', message: '' },
      ...optional('lastContactAt', lastContactAt === undefined ? undefined : new Date(lastContactAt)),
      ...optional('commits', inventory.size > 0 ? [...inventory] : undefined),
      ...optional('work', target?.digest === undefined ? undefined : this.#workOn(target.digest)),
      ...optional('health', this.health(now)),
    };
  }

  #isSynced(): boolean {
    const digest = this.target?.digest;
    const isThere = digest !== undefined && this.applied?.digest === digest;
    return isThere && !this.working && !this.drifted;
  }

  #workOn(digest: string): NonNullable<ClusterReport['work']> {
    const { applied, working, trouble } = this;
    const objects = { total: 1, applied: 0, pruned: 0, failed: 0 };
    const writing = {
      digest,
      reason: 'Applying',
      message: 'objects are being written',
      objects,
      failures: [],
    };
    if (applied?.digest === digest && !working) return { ...writing, state: 'Applied' };
    if (trouble === 'Held') {
      return { ...writing, state: 'Held', reason: 'DeletesHeld', message: 'deletes 40 of 50 objects' };
    }
    return { ...writing, ...(working ? errorsOf(trouble, objects) : { state: 'Applying' }) };
  }

  /** The truth about the cluster, as long as it can be seen. */
  health(now: number): ClusterReport['health'] {
    if (!this.applied || this.working || !this.reachable) return undefined;
    const seen = { digest: this.applied.digest, observedAt: new Date(now) };
    if (this.ill === 'Unknown') {
      return { ...seen, answer: 'Unknown', reason: 'ViewLost', because: 'the watch is frozen' };
    }
    const blocker = { kind: 'Deployment', name: 'app' };
    const answer = this.#answer(now - this.applied.at);
    if (answer === 'Settled') return { ...seen, answer, because: 'all objects are healthy' };
    return answer === 'Failed'
      ? {
          ...seen,
          answer,
          reason: 'ProgressDeadlineExceeded',
          because: 'Deployment app: it does not start',
          blocker,
        }
      : {
          ...seen,
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
    if (this.ill === 'Failed' || (isBad && age >= failMs)) return 'Failed';
    const isGood = !isBad && age >= settleMs;
    return isGood && this.ill === 'No' ? 'Settled' : 'Progressing';
  }
}

type Work = NonNullable<ClusterReport['work']>;

function errorsOf(
  trouble: FakeCluster['trouble'],
  objects: Work['objects'],
): Partial<Work> & Pick<Work, 'state'> {
  if (trouble === 'None' || trouble === 'Held') return { state: 'Applying' };
  const failed = { ...objects, failed: 1 };
  return trouble === 'Permanent'
    ? { state: 'Failed', reason: 'Invalid', message: 'spec.replicas: must be a number', objects: failed }
    : {
        state: 'Applying',
        objects: failed,
        failures: [{ object: 'ConfigMap/a', reason: 'ServerError', message: 'etcd is away' }],
      };
}
