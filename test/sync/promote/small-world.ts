/**
 * A small world for promotion: a hub that keeps what is written to it, clusters that take time to apply and to become
 * healthy, and passes of the real planner between them. It behaves; it judges nothing.
 */
import type {
  Check,
  Cluster,
  ClusterSync,
  Pipeline,
  Release,
  Stage,
} from '../../../src/api/generated/types.ts';
import type { CheckRun } from '../../../src/sync/promote/gates.ts';
import { type PromotionPlan, planPromotion } from '../../../src/sync/promote/plan.ts';
import type { ClusterReport, ClusterTarget, Commit } from '../../../src/sync/promote/ports.ts';

export const START = Date.parse('2030-01-01T00:00:00.000Z');
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** Unit to version, as `{ base: 'v1', app: 'v7' }`. A version that starts with `bad` makes its cluster fail. */
export type Content = Readonly<Record<string, string>>;

export interface ClusterOptions {
  readonly environment?: 'test' | 'pre' | 'prod';
  readonly labels?: Readonly<Record<string, string>>;
}

export interface WorldOptions {
  readonly stages?: readonly (Partial<Stage> & { readonly name: string })[];
  readonly pipeline?: Partial<Pipeline['spec']>;
  readonly clusters?: readonly string[];
  readonly applyMs?: number;
  readonly settleMs?: number;
  readonly failMs?: number;
}

/** A write to a cluster, as the cluster sees it. */
export interface Write {
  readonly at: number;
  readonly cluster: string;
  readonly commit: string;
  readonly digest: string;
}

export interface FakeCluster {
  readonly name: string;
  environment: 'test' | 'pre' | 'prod';
  labels: Readonly<Record<string, string>>;
  paused: boolean;
  reachable: boolean;
  identity: 'Verified' | 'Mismatch';
  /** Unseen at first, and after sync restarted, until a contact was tried. */
  tried: boolean;
  lastContactAt: number | undefined;
  target: ClusterTarget | undefined;
  /** Digest of what is being, or was, brought there, and by which commit. */
  working: { commit: string; digest: string; doneAt: number } | undefined;
  applied: { commit: string; digest: string; at: number } | undefined;
  /** Errors that pass by themselves, that do not, or a hold of the judge. */
  trouble: 'None' | 'Transient' | 'Permanent' | 'Held';
  /** Healthy content that is ill all the same. */
  ill: 'No' | 'Progressing' | 'Failed' | 'Unknown';
  status: Cluster['status'];
  /** Commits that the inventory in the cluster names. */
  inventory: Set<string>;
}

export class SmallWorld {
  now = START;
  readonly clusters = new Map<string, FakeCluster>();
  readonly releases = new Map<string, Release>();
  readonly commits: Commit[] = [];
  readonly contents = new Map<string, Content>();
  readonly writes: Write[] = [];
  readonly journal: string[] = [];
  pipeline: Pipeline;
  runs: { cluster: string; run: CheckRun }[] = [];
  checkResult: (cluster: string, check: string) => CheckRun['result'] = () => 'Passed';
  plan: PromotionPlan | undefined;
  beforePass: () => void = () => undefined;
  onPass: (plan: PromotionPlan) => void = () => undefined;
  onWrite: (write: Write) => void = () => undefined;
  /** Keeps no journal: for long simulations. */
  quiet = false;
  /** Whether what rolls out has a deadline of its own. */
  hasDeadline = true;
  readonly applyMs: number;
  readonly settleMs: number;
  readonly failMs: number;
  #last = new Map<string, string>();
  #moved = false;

  constructor(options: WorldOptions = {}) {
    const stages = options.stages ?? [{ name: 'test' }, { name: 'pre' }, { name: 'prod' }];
    this.pipeline = pipelineOf(stages.map(stageOf), options.pipeline ?? {});
    this.applyMs = options.applyMs ?? 10 * SECOND;
    this.settleMs = options.settleMs ?? 20 * SECOND;
    this.failMs = options.failMs ?? 30 * SECOND;
    for (const name of options.clusters ?? ['test-1', 'pre-1', 'prod-1']) this.addCluster(name);
  }

  addCluster(name: string, options: ClusterOptions = {}): FakeCluster {
    const cluster: FakeCluster = {
      name,
      environment: options.environment ?? environmentOf(name),
      labels: options.labels ?? {},
      paused: false,
      reachable: true,
      identity: 'Verified',
      tried: true,
      lastContactAt: this.now,
      target: undefined,
      working: undefined,
      applied: undefined,
      trouble: 'None',
      ill: 'No',
      status: undefined,
      inventory: new Set(),
    };
    this.clusters.set(name, cluster);
    return cluster;
  }

  cluster(name: string): FakeCluster {
    const cluster = this.clusters.get(name);
    if (!cluster) throw new Error(`no cluster ${name} in this world`);
    return cluster;
  }

  release(commit: string): Release {
    const release = [...this.releases.values()].find(({ spec }) => spec.commit === commit);
    if (!release) throw new Error(`no Release of ${commit}`);
    return release;
  }

  /** `{ '*': { app: 'v1' }, 'prod-1': { app: 'v2' } }`: content by cluster, environment or for all. */
  push(id: string, contents: Readonly<Record<string, Content>>): void {
    const targets = new Map<string, { digest: string; units: Map<string, string> }>();
    for (const { name, environment } of this.clusters.values()) {
      const content = contents[name] ?? contents[environment] ?? contents['*'] ?? {};
      const digest = digestFor(content);
      this.contents.set(digest, content);
      targets.set(name, { digest, units: new Map(Object.entries(content)) });
    }
    this.commits.push({ id, subject: id, targets });
    this.note(`git: ${id}`);
  }

  note(line: string): void {
    this.journal.push(`${stamp(this.now)} ${line}`);
  }

  /** One pass: plan, write down, tell the clusters. Stops before the n-th write when told to. */
  pass(crashAt = Number.POSITIVE_INFINITY): boolean {
    this.work();
    const plan = planPromotion(
      {
        pipeline: this.pipeline,
        clusters: [...this.clusters.values()].map((cluster) => ({
          cluster: this.objectOf(cluster),
          report: this.reportOf(cluster),
          runs: this.runs.filter((run) => run.cluster === cluster.name).map(({ run }) => run),
        })),
        releases: [...this.releases.values()],
        commits: this.accepted(),
        now: new Date(this.now),
      },
      { verdict: 'Accepted' },
    );
    this.plan = plan;
    const steps = this.#stepsOf(plan);
    for (const [index, step] of steps.entries()) {
      if (index >= crashAt) return false;
      step();
    }
    this.#say(plan);
    this.onPass(plan);
    this.#runChecks(plan);
    return true;
  }

  /** As the port promises: the newest, what is mentioned, and what lies between. */
  accepted(): readonly Commit[] {
    const mentioned = new Set([...this.releases.values()].map(({ spec }) => spec.commit));
    for (const { status, inventory } of this.clusters.values()) {
      const { commit, proven = [], failed = [] } = status?.sync ?? {};
      for (const each of [commit, ...inventory, ...[...proven, ...failed].map((entry) => entry.commit)])
        mentioned.add(each ?? '');
    }
    const first = this.commits.findIndex(({ id }) => mentioned.has(id));
    return first < 0 ? this.commits.slice(-1) : this.commits.slice(first);
  }

  /** In the order of a controller: what was found is durable before anybody acts on it. */
  #stepsOf(plan: PromotionPlan): (() => void)[] {
    const { create } = plan;
    return [
      ...(create ? [() => void this.releases.set(create.metadata.name, create)] : []),
      ...plan.releases.map(({ release, status }) => () => {
        this.#moved ||= statesOf(release.status) !== statesOf(status);
        this.releases.set(release.metadata.name, { ...release, status });
      }),
      ...plan.clusters.map(({ name, sync }) => () => {
        const cluster = this.cluster(name);
        this.#moved ||= wordOf(cluster.status?.sync) !== wordOf(sync);
        cluster.status = { conditions: [], sync };
      }),
      () => {
        this.pipeline = { ...this.pipeline, status: plan.status };
      },
      ...plan.clusters.map(({ name, target }) => () => {
        const cluster = this.cluster(name);
        this.#moved ||= cluster.target?.mode !== target.mode || cluster.target.digest !== target.digest;
        this.tell(cluster, target);
      }),
      ...plan.drop.map(
        ({ metadata }) =>
          () =>
            void this.releases.delete(metadata.name),
      ),
    ];
  }

  tell(cluster: FakeCluster, target: ClusterTarget): void {
    cluster.target = target;
    this.#begin(cluster);
  }

  /** Starts writing, if it may and there is anything to write. A new target ends the work on the old one. */
  #begin(cluster: FakeCluster): void {
    const { target } = cluster;
    if (target?.mode !== 'Apply' || target.digest === undefined || target.commit === undefined) {
      cluster.working = undefined;
      return;
    }
    if (!cluster.reachable || cluster.identity !== 'Verified') return;
    const { commit, digest } = target;
    if (cluster.trouble === 'Held' || cluster.working?.digest === digest) return;
    if (cluster.applied?.digest === digest && !cluster.working) return;
    cluster.working = { commit, digest, doneAt: this.now + this.applyMs };
    cluster.applied = cluster.applied && { ...cluster.applied, digest: `half of ${cluster.applied.digest}` };
    cluster.inventory.add(commit);
    const write = { at: this.now, cluster: cluster.name, commit, digest };
    this.writes.push(write);
    this.onWrite(write);
  }

  work(): void {
    for (const cluster of this.clusters.values()) {
      if (cluster.reachable) {
        cluster.lastContactAt = this.now;
        this.#begin(cluster);
      }
      const { working } = cluster;
      const goesOn = cluster.reachable && cluster.trouble === 'None';
      if (working && goesOn && this.now >= working.doneAt) {
        cluster.applied = { commit: working.commit, digest: working.digest, at: this.now };
        cluster.working = undefined;
        cluster.inventory = new Set([working.commit]);
      }
    }
  }

  objectOf({ name, environment, labels, paused, status }: FakeCluster): Cluster {
    return {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name, labels },
      spec: {
        environment,
        paused,
        pauses: [],
        deletion: { protection: true, policy: 'Orphan', force: false, timeoutSeconds: 1800 },
      },
      ...(status ? { status } : {}),
    };
  }

  reportOf(cluster: FakeCluster): ClusterReport {
    const { reachable, identity, tried, lastContactAt, applied, target } = cluster;
    const health = this.healthOf(cluster);
    const complete =
      applied && !applied.digest.startsWith('half of ')
        ? { commit: applied.commit, digest: applied.digest }
        : undefined;
    return {
      ...(tried ? { reachable } : {}),
      ...(lastContactAt === undefined ? {} : { lastContactAt: new Date(lastContactAt) }),
      identity: tried ? identity : 'Unknown',
      ...(cluster.inventory.size > 0 ? { commits: [...cluster.inventory] } : {}),
      ...(target?.digest === undefined ? {} : { work: this.#workReport(cluster, target.digest) }),
      synced: {
        status: complete && complete.digest === target?.digest ? 'True' : 'Unknown',
        reason: 'Seen',
        message: '',
      },
      ...(health ? { health } : {}),
    };
  }

  #workReport(
    { applied, trouble, working }: FakeCluster,
    digest: string,
  ): NonNullable<ClusterReport['work']> {
    const objects = { total: 1, applied: 0, pruned: 0, failed: 0 };
    const said = { digest, reason: 'Applying', message: 'objects are being written', objects, failures: [] };
    if (applied?.digest === digest && !working) return { ...said, state: 'Applied' };
    if (trouble === 'Held')
      return { ...said, state: 'Held', reason: 'DeleteBudget', message: 'deletes 40 of 50 objects' };
    if (trouble === 'Permanent' && working)
      return { ...said, state: 'Failed', reason: 'Invalid', message: 'spec.replicas: must be a number' };
    const failures =
      trouble === 'Transient' && working
        ? [{ object: 'ConfigMap/a', reason: 'ServerError', message: 'etcd is away' }]
        : [];
    return { ...said, state: 'Applying', failures, objects: { ...objects, failed: failures.length } };
  }

  /** The truth about a cluster, as long as it can be seen. */
  healthOf({ applied, ill, reachable, working }: FakeCluster): ClusterReport['health'] {
    if (!applied || working || !reachable) return undefined;
    const { digest, at } = applied;
    const seen = { digest, observedAt: new Date(this.now) };
    const isBad = Object.values(this.contents.get(digest) ?? {}).some((version) => version.startsWith('bad'));
    const blocker = { kind: 'Deployment', name: 'app' };
    if (ill === 'Unknown')
      return { ...seen, answer: 'Unknown', reason: 'ViewLost', because: 'the watch is frozen' };
    if (ill === 'Failed' || (isBad && this.now >= at + this.failMs)) {
      return {
        ...seen,
        answer: 'Failed',
        reason: 'ProgressDeadlineExceeded',
        because: 'Deployment app: it does not start',
        blocker,
      };
    }
    if (ill === 'Progressing' || isBad || this.now < at + this.settleMs) {
      return {
        ...seen,
        answer: 'Progressing',
        reason: 'RollingOut',
        because: 'Deployment app: rolling out',
        blocker,
        hasDeadline: this.hasDeadline,
      };
    }
    return { ...seen, answer: 'Settled', because: 'all objects are as they should be' };
  }

  #runChecks({ due }: PromotionPlan): void {
    // Like the desk of the controller, keep only what may not be counted yet.
    this.runs = this.runs.slice(-50);
    for (const { cluster, check } of due) {
      const result = this.checkResult(cluster, check);
      this.runs.push({ cluster, run: { check, at: new Date(this.now), result, message: `said ${result}` } });
    }
  }

  /** Passes until nobody moves any more. */
  settle(): void {
    for (let index = 0; index < 30; index++) {
      this.#moved = false;
      const runs = this.runs.length;
      this.beforePass();
      this.pass();
      if (!this.#moved && runs === this.runs.length) return;
    }
    throw new Error('the plan does not come to rest');
  }

  /** Time passes: a pass at each moment at which anything can happen by itself, and at the end. */
  run(ms: number, until: () => boolean = () => false): void {
    const end = this.now + ms;
    this.settle();
    while (this.now < end && !until()) {
      this.now = Math.min(end, this.nextMoment());
      this.settle();
    }
  }

  nextMoment(wakeAt = this.plan?.wakeAt): number {
    const moments = [wakeAt ? +wakeAt : Number.POSITIVE_INFINITY];
    for (const { working, applied } of this.clusters.values()) {
      if (working) moments.push(working.doneAt);
      if (applied) moments.push(applied.at + this.settleMs, applied.at + this.failMs);
    }
    return moments.filter((moment) => moment > this.now).reduce((a, b) => Math.min(a, b), this.now + HOUR);
  }

  /** The wall clock is set. What happens in the clusters goes by real time. */
  jump(ms: number): void {
    this.now += ms;
    for (const { working, applied } of this.clusters.values()) {
      if (working) working.doneAt += ms;
      if (applied) applied.at += ms;
    }
  }

  /** Sync is killed and comes back: what it only had in memory is gone. */
  restart(): void {
    this.runs = [];
    for (const cluster of this.clusters.values()) {
      cluster.target = undefined;
      cluster.working = cluster.working && { ...cluster.working, doneAt: Number.POSITIVE_INFINITY };
      if (cluster.working) {
        // What was half written stays half written until it is told again.
        cluster.applied = {
          commit: cluster.working.commit,
          digest: `half of ${cluster.working.digest}`,
          at: this.now,
        };
        cluster.working = undefined;
      }
    }
  }

  #say(plan: PromotionPlan): void {
    if (this.quiet) return;
    for (const { name, sync } of plan.clusters) {
      this.#sayOnce(
        name,
        `${name}: ${sync.state ?? '-'} ${sync.commit ?? '-'} (${sync.message ?? ''})`,
        `${sync.state} ${sync.commit}`,
      );
    }
    for (const { release, status } of plan.releases) {
      for (const { name, state, waiting } of status.stages ?? []) {
        const why =
          state === 'Proven' || state === 'Superseded' || !waiting
            ? ''
            : ` (${waiting.reason}: ${waiting.message ?? ''})`;
        const key = `${release.spec.commit} ${name}`;
        if (state !== 'Pending')
          this.#sayOnce(key, `${key}: ${state}${why}`, `${state} ${waiting?.reason ?? ''}`);
      }
    }
  }

  #sayOnce(key: string, line: string, what: string): void {
    if (this.#last.get(key) === what) return;
    this.#last.set(key, what);
    this.note(line);
  }
}

function statesOf(status: Release['status']): string {
  return (status?.stages ?? []).map(({ state }) => state).join();
}

function wordOf(sync: ClusterSync | undefined): string {
  return `${sync?.state} ${sync?.commit} ${sync?.renderedDigest} ${sync?.soak === undefined}`;
}

export function digestFor(content: Content): string {
  return Object.entries(content)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([unit, version]) => `${unit}=${version}`)
    .join(' ');
}

function environmentOf(name: string): 'test' | 'pre' | 'prod' {
  const prefix = name.replace(/-.*/, '');
  return prefix === 'test' || prefix === 'pre' ? prefix : 'prod';
}

function stamp(now: number): string {
  const seconds = Math.round((now - START) / SECOND);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

export function stageOf(stage: Partial<Stage> & { readonly name: string }): Stage {
  return {
    clusterSelector: { all: false, matchLabels: { 'kubenode.dev/environment': stage.name } },
    maxConcurrentClusters: 1,
    maxFailedClusters: 0,
    soakSeconds: 300,
    checks: [],
    approval: 'None',
    approvalByOther: false,
    windows: [],
    revertPasses: { windows: true, freezes: false },
    unreachable: { graceSeconds: 3600, maxSkipped: '10%' },
    ...stage,
  };
}

export function checkOf(check: Partial<Check> & { readonly name: string }): Check {
  return { builtin: {}, intervalSeconds: 30, failureLimit: 0, inconclusiveLimit: 3, ...check };
}

function pipelineOf(stages: readonly Stage[], spec: Partial<Pipeline['spec']>): Pipeline {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet', generation: 1 },
    spec: {
      source: {
        repository: 'https://git.example.com/fleet',
        ref: 'refs/heads/main',
        path: '.',
        pollSeconds: 30,
        hostKeys: [],
        signatures: 'None',
        signers: [],
      },
      stages,
      unassigned: 'Ignore',
      freezes: [],
      paused: false,
      historyLimit: 20,
      onFailure: 'Stop',
      deleteBudget: { maxObjects: 10, maxPercent: 20 },
      acknowledgements: [],
      approvals: [],
      forceManagers: [],
      fieldPolicies: [],
      identities: [],
      ...spec,
    },
  };
}
