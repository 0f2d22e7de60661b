/**
 * Simulates promotion: a hub that stores what is written to it, clusters that take time to apply, and reconciles of the real
 * planner. It checks nothing.
 */
import type { ClusterSync, Pipeline, Release, Stage } from '../../../../src/api/generated/types.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import { askedDigest, type CheckRun } from '../../../../src/rollout/checks/gate.ts';
import type { ClusterTarget } from '../../../../src/sync/cluster-report.ts';
import type { AcceptedCommit } from '../../../../src/sync/commits.ts';
import { type PromotionPlan, planPromotion } from '../../../../src/sync/promote/plan.ts';
import type { PromotionHold } from '../../../../src/sync/promote/snapshot.ts';
import { SECOND, SimulatedCluster, type Times } from './simulated-cluster.ts';
import { Transcript } from './transcript.ts';

export { SECOND } from './simulated-cluster.ts';
export const START = Date.parse('2030-01-01T00:00:00.000Z');
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Unit to version, as `{ base: 'v1', app: 'v7' }`. A version that starts with `bad` makes the cluster fail. */
export type Content = Readonly<Record<string, string>>;

export interface SimulationOptions extends Partial<Times> {
  readonly stages?: readonly (Partial<Stage> & { readonly name: string })[];
  readonly pipeline?: Partial<Pipeline['spec']>;
  readonly clusters?: readonly string[];
}

/** The start of a write, as the cluster records it. */
export interface SimulatedWrite {
  readonly at: number;
  readonly cluster: string;
  readonly commit: string;
  readonly digest: string;
}

const THREE_STAGES = ['test', 'pre', 'prod'].map((name) => ({ name }));
const THREE_CLUSTERS = ['test-1', 'pre-1', 'prod-1'];
const DEFAULT_TIMES = { applyMs: 10 * SECOND, settleMs: 20 * SECOND, failMs: 30 * SECOND };

export class PromotionSimulation {
  now = START;
  readonly clusters = new Map<string, SimulatedCluster>();
  readonly releases = new Map<string, Release>();
  readonly commits: AcceptedCommit[] = [];
  readonly contents = new Map<string, Content>();
  readonly writes: SimulatedWrite[] = [];
  readonly transcript = new Transcript();
  /** Records no transcript: for long simulations. */
  quiet = false;
  pipeline: Pipeline;
  runs: { cluster: string; run: CheckRun }[] = [];
  /** What FleetPolicies hold. */
  holds: readonly PromotionHold[] = [];
  checkResult: (cluster: string, check: string) => CheckRun['result'] = () => 'Passed';
  plan: PromotionPlan | undefined;
  beforeReconcile: () => void = () => undefined;
  onReconcile: (plan: PromotionPlan) => void = () => undefined;
  onWrite: (write: SimulatedWrite) => void = () => undefined;
  readonly #times: Times;
  #changed = false;

  constructor({
    stages = THREE_STAGES,
    pipeline = {},
    clusters = THREE_CLUSTERS,
    ...times
  }: SimulationOptions = {}) {
    this.#times = { ...DEFAULT_TIMES, ...times };
    this.pipeline = pipelineOf(stages.map(stageOf), pipeline);
    for (const name of clusters) this.addCluster(name);
  }

  addCluster(
    name: string,
    options: { environment?: SimulatedCluster['environment']; labels?: SimulatedCluster['labels'] } = {},
  ): SimulatedCluster {
    const { environment = environmentOf(name), labels = {} } = options;
    const cluster = new SimulatedCluster(
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

  cluster(name: string): SimulatedCluster {
    const cluster = this.clusters.get(name);
    if (!cluster) throw new Error(`no cluster ${name} in this simulation`);
    return cluster;
  }

  release(commit: string): Release {
    const release = [...this.releases.values()].find(({ spec }) => spec.commit === commit);
    if (!release) throw new Error(`no Release of ${commit}`);
    return release;
  }

  /**
   * `{ '*': { app: 'v1' }, 'prod-1': { app: 'v2' } }`: content by cluster, by environment, or for all clusters. `declared`: the
   * Clusters of the commit; by default it declares nothing for the hub.
   */
  push(
    id: string,
    contents: Readonly<Record<string, Content>>,
    declared?: readonly string[],
    more?: Partial<AcceptedCommit>,
  ): void {
    const targets = new Map<string, { digest: string; units: Map<string, string> }>();
    for (const { name, environment } of this.clusters.values()) {
      if (declared?.includes(name) === false) continue;
      const content = contents[name] ?? contents[environment] ?? contents['*'] ?? {};
      const digest = digestFor(content);
      this.contents.set(digest, content);
      targets.set(name, { digest, units: new Map(Object.entries(content)) });
    }
    const clusters = optional('clusters', declared && new Set(declared));
    this.commits.push({ id, subject: id, targets, ...clusters, ...more });
    this.note(`git: ${id}`);
  }

  note(text: string): void {
    if (!this.quiet) this.transcript.note(timestamp(this.now), text);
  }

  /** One reconcile: plan, record, set targets. Stops before step `crashAt`. */
  reconcile(crashAt = Number.POSITIVE_INFINITY): void {
    this.work();
    const plan = planPromotion(
      {
        pipeline: this.pipeline,
        clusters: [...this.clusters.values()].map((cluster) => ({
          cluster: cluster.object(),
          report: cluster.report(this.now),
          checkRuns: this.runs.filter((run) => run.cluster === cluster.name).map(({ run }) => run),
        })),
        releases: [...this.releases.values()],
        commits: this.accepted(),
        holds: this.holds,
        now: new Date(this.now),
      },
      { verdict: 'Accepted' },
    );
    this.plan = plan;
    const steps = this.#stepsOf(plan);
    for (const step of steps.slice(0, crashAt)) step();
    if (crashAt < steps.length) return;
    if (!this.quiet) this.transcript.plan(timestamp(this.now), plan);
    this.onReconcile(plan);
    this.#runChecks(plan);
  }

  /** As CommitSource specifies: the newest commit, the mentioned ones, and those between. */
  accepted(): readonly AcceptedCommit[] {
    const mentioned = new Set([...this.releases.values()].map(({ spec }) => spec.commit));
    for (const commit of [...this.clusters.values()].flatMap(mentionedCommits)) mentioned.add(commit);
    const first = this.commits.findIndex(({ id }) => mentioned.has(id));
    return this.commits.slice(first < 0 ? -1 : first);
  }

  /** In the order of the controller: findings are recorded before anybody acts on them, and starting clusters come last. */
  #stepsOf(plan: PromotionPlan): (() => void)[] {
    const { create } = plan;
    const clusters = plan.clusters.toSorted((a, b) => Number(a.starts) - Number(b.starts));
    return [
      ...(create ? [() => void this.releases.set(create.metadata.name, create)] : []),
      ...plan.releases.map(({ release, status }) => () => {
        this.#changed ||= statesOf(release.status) !== statesOf(status);
        this.releases.set(release.metadata.name, { ...release, status });
      }),
      ...clusters.map(({ name, sync }) => () => {
        const cluster = this.cluster(name);
        this.#changed ||= summaryOf(cluster.status?.sync) !== summaryOf(sync);
        cluster.status = { conditions: [], sync };
      }),
      ...clusters.map(({ name, target }) => () => {
        const cluster = this.cluster(name);
        this.#changed ||= cluster.target?.mode !== target.mode || cluster.target.digest !== target.digest;
        this.setTarget(cluster, target);
      }),
      () => {
        this.pipeline = { ...this.pipeline, status: plan.status };
      },
      ...plan.expired.map(
        ({ metadata }) =>
          () =>
            void this.releases.delete(metadata.name),
      ),
    ];
  }

  setTarget(cluster: SimulatedCluster, target: ClusterTarget): void {
    cluster.target = target;
    this.#recordWrite(cluster, cluster.start(this.now));
  }

  work(): void {
    for (const cluster of this.clusters.values()) this.#recordWrite(cluster, cluster.work(this.now));
  }

  #recordWrite(
    { name }: SimulatedCluster,
    started: Pick<SimulatedWrite, 'commit' | 'digest'> | undefined,
  ): void {
    if (!started) return;
    const write = { at: this.now, cluster: name, ...started };
    this.writes.push(write);
    this.onWrite(write);
  }

  #runChecks({ dueChecks, stages }: PromotionPlan): void {
    // Like the controller, keep only results that may not be recorded yet.
    this.runs = this.runs.slice(-50);
    for (const { cluster, stage, check } of dueChecks) {
      const declared = stages.find((each) => each.stage.name === stage)?.stage.checks ?? [];
      const asked = declared.find(({ name }) => name === check);
      if (!asked) throw new Error(`stage ${stage} has no check ${check}`);
      const result = this.checkResult(cluster, check);
      this.runs.push({
        cluster,
        run: {
          check,
          asked: askedDigest(asked),
          at: new Date(this.now),
          result,
          message: `the check is ${result}`,
        },
      });
    }
  }

  /** Reconciles until nothing changes any more. */
  settle(): void {
    for (let index = 0; index < 30; index++) {
      this.#changed = false;
      const runs = this.runs.at(-1);
      this.beforeReconcile();
      this.reconcile();
      if (!this.#changed && runs === this.runs.at(-1)) return;
    }
    throw new Error('the plan does not settle');
  }

  /** Advances time: reconciles at each moment at which anything can change by itself, and at the end. */
  run(ms: number, until: () => boolean = () => false): void {
    const end = this.now + ms;
    this.settle();
    while (this.now < end && !until()) {
      this.now = Math.min(end, this.nextMoment());
      this.settle();
    }
  }

  nextMoment(requeueAt = this.plan?.requeueAt): number {
    const moments = [requeueAt ? +requeueAt : Number.POSITIVE_INFINITY];
    for (const { applying, applied } of this.clusters.values()) {
      if (applying) moments.push(applying.doneAt);
      if (applied) moments.push(applied.at + this.#times.settleMs, applied.at + this.#times.failMs);
    }
    return moments.filter((moment) => moment > this.now).reduce((a, b) => Math.min(a, b), this.now + HOUR);
  }

  /** Sets the wall clock. The clusters go by real time. */
  jump(ms: number): void {
    this.now += ms;
    for (const { applying, applied } of this.clusters.values()) {
      if (applying) applying.doneAt += ms;
      if (applied) applied.at += ms;
    }
  }

  /** Sync is killed and restarted: it loses everything that was only in memory. */
  restart(): void {
    this.runs = [];
    for (const cluster of this.clusters.values()) cluster.abandon(this.now);
  }
}

function mentionedCommits({ status, inventory }: SimulatedCluster): string[] {
  const { commit = '', proven = [], failed = [] } = status?.sync ?? {};
  return [commit, ...inventory, ...[...proven, ...failed].map((entry) => entry.commit ?? '')];
}

function statesOf(status: Release['status']): string {
  return (status?.stages ?? []).map(({ state }) => state).join();
}

function summaryOf(sync: ClusterSync | undefined): string {
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

function timestamp(now: number): string {
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
      healthExpressions: [],
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
