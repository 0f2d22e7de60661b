/**
 * A small world for promotion: a hub that keeps what is written to it, clusters that take their time, and passes of the
 * real planner between them. It behaves; it judges nothing.
 */
import type { Check, ClusterSync, Pipeline, Release, Stage } from '../../../src/api/generated/types.ts';
import type { CheckRun } from '../../../src/rollout/gates.ts';
import type { ClusterTarget } from '../../../src/sync/cluster-report.ts';
import type { AcceptedCommit } from '../../../src/sync/commits.ts';
import { type PromotionPlan, planPromotion } from '../../../src/sync/promote/plan.ts';
import { FakeCluster, SECOND, type Times } from './fake-cluster.ts';
import { Journal } from './journal.ts';

export { SECOND } from './fake-cluster.ts';
export const START = Date.parse('2030-01-01T00:00:00.000Z');
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** Unit to version, as `{ base: 'v1', app: 'v7' }`. A version that starts with `bad` makes its cluster fail. */
export type Content = Readonly<Record<string, string>>;

export interface WorldOptions extends Partial<Times> {
  readonly stages?: readonly (Partial<Stage> & { readonly name: string })[];
  readonly pipeline?: Partial<Pipeline['spec']>;
  readonly clusters?: readonly string[];
}

/** A write to a cluster, as the cluster sees it. */
export interface Write {
  readonly at: number;
  readonly cluster: string;
  readonly commit: string;
  readonly digest: string;
}

const THREE_STAGES = ['test', 'pre', 'prod'].map((name) => ({ name }));
const THREE_CLUSTERS = ['test-1', 'pre-1', 'prod-1'];
const USUAL = { applyMs: 10 * SECOND, settleMs: 20 * SECOND, failMs: 30 * SECOND };

export class SmallWorld {
  now = START;
  readonly clusters = new Map<string, FakeCluster>();
  readonly releases = new Map<string, Release>();
  readonly commits: AcceptedCommit[] = [];
  readonly contents = new Map<string, Content>();
  readonly writes: Write[] = [];
  readonly journal = new Journal();
  /** Keeps no journal: for long simulations. */
  quiet = false;
  pipeline: Pipeline;
  runs: { cluster: string; run: CheckRun }[] = [];
  checkResult: (cluster: string, check: string) => CheckRun['result'] = () => 'Passed';
  plan: PromotionPlan | undefined;
  beforePass: () => void = () => undefined;
  onPass: (plan: PromotionPlan) => void = () => undefined;
  onWrite: (write: Write) => void = () => undefined;
  readonly #times: Times;
  #moved = false;

  constructor({
    stages = THREE_STAGES,
    pipeline = {},
    clusters = THREE_CLUSTERS,
    ...times
  }: WorldOptions = {}) {
    this.#times = { ...USUAL, ...times };
    this.pipeline = pipelineOf(stages.map(stageOf), pipeline);
    for (const name of clusters) this.addCluster(name);
  }

  addCluster(
    name: string,
    options: { environment?: FakeCluster['environment']; labels?: FakeCluster['labels'] } = {},
  ): FakeCluster {
    const { environment = environmentOf(name), labels = {} } = options;
    const cluster = new FakeCluster(
      name,
      { environment, labels },
      { times: this.#times, isBad: (digest) => this.#isBad(digest) },
    );
    cluster.lastContactAt = this.now;
    this.clusters.set(name, cluster);
    return cluster;
  }

  #isBad(digest: string): boolean {
    return Object.values(this.contents.get(digest) ?? {}).some((version) => version.startsWith('bad'));
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
    if (!this.quiet) this.journal.note(stamp(this.now), line);
  }

  /** One pass: plan, write down, tell the clusters. Stops before the n-th write when told to. */
  pass(crashAt = Number.POSITIVE_INFINITY): void {
    this.work();
    const plan = planPromotion(
      {
        pipeline: this.pipeline,
        clusters: [...this.clusters.values()].map((cluster) => ({
          cluster: cluster.object(),
          report: cluster.report(this.now),
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
    for (const step of steps.slice(0, crashAt)) step();
    if (crashAt < steps.length) return;
    if (!this.quiet) this.journal.plan(stamp(this.now), plan);
    this.onPass(plan);
    this.#runChecks(plan);
  }

  /** As the port promises: the newest, what is mentioned, and what lies between. */
  accepted(): readonly AcceptedCommit[] {
    const mentioned = new Set([...this.releases.values()].map(({ spec }) => spec.commit));
    for (const commit of [...this.clusters.values()].flatMap(mentionedBy)) mentioned.add(commit);
    const first = this.commits.findIndex(({ id }) => mentioned.has(id));
    return this.commits.slice(first < 0 ? -1 : first);
  }

  /** In the order of the controller: what was found is durable before anybody acts on it, and who begins comes last. */
  #stepsOf(plan: PromotionPlan): (() => void)[] {
    const { create } = plan;
    const clusters = plan.clusters.toSorted((a, b) => Number(a.begins) - Number(b.begins));
    return [
      ...(create ? [() => void this.releases.set(create.metadata.name, create)] : []),
      ...plan.releases.map(({ release, status }) => () => {
        this.#moved ||= statesOf(release.status) !== statesOf(status);
        this.releases.set(release.metadata.name, { ...release, status });
      }),
      ...clusters.map(({ name, sync }) => () => {
        const cluster = this.cluster(name);
        this.#moved ||= wordOf(cluster.status?.sync) !== wordOf(sync);
        cluster.status = { conditions: [], sync };
      }),
      ...clusters.map(({ name, target }) => () => {
        const cluster = this.cluster(name);
        this.#moved ||= cluster.target?.mode !== target.mode || cluster.target.digest !== target.digest;
        this.tell(cluster, target);
      }),
      () => {
        this.pipeline = { ...this.pipeline, status: plan.status };
      },
      ...plan.drop.map(
        ({ metadata }) =>
          () =>
            void this.releases.delete(metadata.name),
      ),
    ];
  }

  tell(cluster: FakeCluster, target: ClusterTarget): void {
    cluster.target = target;
    this.#written(cluster, cluster.begin(this.now));
  }

  work(): void {
    for (const cluster of this.clusters.values()) this.#written(cluster, cluster.work(this.now));
  }

  #written({ name }: FakeCluster, began: Pick<Write, 'commit' | 'digest'> | undefined): void {
    if (!began) return;
    const write = { at: this.now, cluster: name, ...began };
    this.writes.push(write);
    this.onWrite(write);
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
      const runs = this.runs.at(-1);
      this.beforePass();
      this.pass();
      if (!this.#moved && runs === this.runs.at(-1)) return;
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
      if (applied) moments.push(applied.at + this.#times.settleMs, applied.at + this.#times.failMs);
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
    for (const cluster of this.clusters.values()) cluster.abandon(this.now);
  }
}

function mentionedBy({ status, inventory }: FakeCluster): string[] {
  const { commit = '', proven = [], failed = [] } = status?.sync ?? {};
  return [commit, ...inventory, ...[...proven, ...failed].map((entry) => entry.commit ?? '')];
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
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(twoDigits).join(':');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
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
