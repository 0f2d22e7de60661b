/** Runs one scenario of the model test, and checks the invariants after each event. */
import type { Release, ReleaseStage } from '../../../../src/api/generated/types.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { type Content, MINUTE, PromotionSimulation, SECOND, stageOf } from '../simulation/simulation.ts';
import { Reference, type ReferenceObservation } from './reference.ts';

export type ScenarioEvent =
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'push'; readonly place: string; readonly unit: string; readonly bad: boolean }
  | { readonly do: 'revert'; readonly back: number }
  | { readonly do: 'docs' }
  | { readonly do: 'burst'; readonly count: number }
  | { readonly do: 'reach' | 'pause'; readonly cluster: string }
  | { readonly do: 'halt' | 'backup' | 'restore' }
  | { readonly do: 'restart'; readonly seconds: number }
  | { readonly do: 'crash'; readonly at: number }
  | { readonly do: 'jump'; readonly seconds: number }
  | { readonly do: 'unhealthy'; readonly cluster: string; readonly how: SimulatedCluster['unhealthy'] }
  | { readonly do: 'trouble'; readonly cluster: string; readonly how: SimulatedCluster['trouble'] }
  | { readonly do: 'member'; readonly cluster: string; readonly stage: 'test' | 'pre' | 'prod' | 'gone' };

export interface ScenarioStage {
  readonly maxConcurrent: number;
  readonly maxFailed: number;
  readonly soakSeconds: number;
  readonly graceSeconds: number;
  readonly maxSkipped: number;
}

export interface Scenario {
  readonly stages: readonly [ScenarioStage, ScenarioStage, ScenarioStage];
  readonly events: readonly ScenarioEvent[];
}

const NAMES = ['test', 'pre', 'prod'] as const;
type Contents = Record<string, Content>;

/** Throws if a requirement is violated. */
export function runScenario(scenario: Scenario, watch?: (sim: PromotionSimulation) => void): 'ok' {
  const run = new ModelRun(scenario);
  run.sim.quiet = watch === undefined;
  watch?.(run.sim);
  for (const event of scenario.events) run.apply(event);
  run.recover();
  return 'ok';
}

class ModelRun {
  readonly sim: PromotionSimulation;
  readonly reference: Reference;
  readonly #scenario: Scenario;
  readonly #history: Contents[] = [];
  #version = 0;
  /** Real time minus wall time. */
  #skew = 0;
  #backup:
    | {
        releases: PromotionSimulation['releases'];
        pipeline: PromotionSimulation['pipeline'];
        clusters: Map<string, SimulatedCluster['status']>;
      }
    | undefined;
  readonly #ranks = new Map<string, number>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const stages = scenario.stages.map((stage, index) =>
      stageOf({
        name: NAMES[index] ?? '',
        maxConcurrentClusters: stage.maxConcurrent,
        maxFailedClusters: stage.maxFailed,
        soakSeconds: stage.soakSeconds,
        unreachable: { graceSeconds: stage.graceSeconds, maxSkipped: stage.maxSkipped },
      }),
    );
    this.sim = new PromotionSimulation({
      stages,
      clusters: ['test-1', 'pre-1', 'prod-1', 'prod-2'],
      failMs: 20 * SECOND,
    });
    const refStages = scenario.stages.map((stage, index) => ({
      ...stage,
      name: NAMES[index] ?? '',
      soakMs: stage.soakSeconds * SECOND,
      graceMs: stage.graceSeconds * SECOND,
    }));
    this.reference = new Reference(
      refStages,
      (digest) => new Map(Object.entries(this.sim.contents.get(digest) ?? {})),
    );
    this.sim.beforeReconcile = () => this.#observeAll();
    this.sim.onWrite = ({ cluster, commit }) => this.reference.write(cluster, commit, this.sim.now);
    this.sim.onReconcile = () => this.#checkStatus();
    this.#push(Object.fromEntries(NAMES.map((name) => [name, { app: 'v0', base: 'v0' }])));
  }

  apply(event: ScenarioEvent): void {
    const { sim } = this;
    const acts: Acts = {
      wait: ({ seconds }) => sim.run(seconds * SECOND),
      push: ({ place, unit, bad }) => this.#push(this.#changed(place, unit, bad)),
      revert: ({ back }) => this.#push(this.#history.at(-1 - back) ?? this.#history[0] ?? {}),
      docs: () => this.#push(this.#history.at(-1) ?? {}),
      burst: ({ count }) => {
        for (let index = 0; index < count; index++) this.#push(this.#changed('*', 'app', false), 0);
      },
      restart: ({ seconds }) => {
        sim.restart();
        // Time passes while sync is down.
        sim.now += seconds * SECOND;
      },
      crash: ({ at }) => {
        this.#observeAll();
        sim.reconcile(at);
        sim.restart();
      },
      jump: ({ seconds }) => {
        this.#skew -= seconds * SECOND;
        sim.jump(seconds * SECOND);
      },
      halt: () => this.#pause(!sim.pipeline.spec.paused),
      backup: () => this.#backUp(),
      restore: () => this.#restore(),
      member: ({ cluster, stage }) => this.#member(cluster, stage),
      reach: ({ cluster }) => this.#change(cluster, (each) => ({ reachable: !each.reachable })),
      pause: ({ cluster }) => this.#change(cluster, (each) => ({ paused: !each.paused })),
      unhealthy: ({ cluster, how }) => this.#change(cluster, () => ({ unhealthy: how })),
      trouble: ({ cluster, how }) => this.#change(cluster, () => ({ trouble: how })),
    };
    (acts[event.do] as (event: ScenarioEvent) => void)(event);
    sim.settle();
  }

  #pause(paused: boolean): void {
    const { sim } = this;
    sim.pipeline = { ...sim.pipeline, spec: { ...sim.pipeline.spec, paused } };
  }

  #change(name: string, change: (cluster: SimulatedCluster) => Partial<SimulatedCluster>): void {
    const cluster = this.sim.clusters.get(name);
    if (cluster) Object.assign(cluster, change(cluster));
  }

  #backUp(): void {
    const { releases, pipeline, clusters } = this.sim;
    const statuses = new Map([...clusters].map(([name, { status }]) => [name, status]));
    this.#backup = { releases: new Map(releases), pipeline, clusters: statuses };
    this.reference.backUp();
  }

  #member(name: string, stage: 'test' | 'pre' | 'prod' | 'gone'): void {
    const { sim } = this;
    const present = sim.clusters.get(name);
    if (stage === 'gone') sim.clusters.delete(name);
    else if (present) present.environment = stage;
    else sim.addCluster(name, { environment: stage });
  }

  /** Restores the hub from its backup; the clusters stay as they are. Sync restarts. */
  #restore(): void {
    if (!this.#backup) return;
    const { sim } = this;
    sim.releases.clear();
    for (const [name, release] of this.#backup.releases) sim.releases.set(name, release);
    sim.pipeline = { ...this.#backup.pipeline, spec: sim.pipeline.spec };
    for (const [name, cluster] of sim.clusters) cluster.status = this.#backup.clusters.get(name);
    sim.restart();
    this.#ranks.clear();
    this.reference.restore();
  }

  #changed(place: string, unit: string, bad: boolean): Contents {
    const before = this.#history.at(-1) ?? {};
    const version = `${bad ? 'bad' : 'v'}${++this.#version}`;
    const places = place === '*' ? [...NAMES] : [place];
    const changed = places.map((name) => {
      const base = before[name] ?? before[name.replace(/-.*/, '')] ?? {};
      return [name, { ...base, [unit]: version }] as const;
    });
    return { ...before, ...Object.fromEntries(changed) };
  }

  #push(contents: Contents, settle = 1): void {
    const { sim } = this;
    this.#history.push(contents);
    const id = `c${this.#history.length}`;
    sim.push(id, contents);
    const targets = sim.commits.at(-1)?.targets ?? new Map<string, { digest: string }>();
    this.reference.accept({ id, digests: new Map([...targets].map(([name, { digest }]) => [name, digest])) });
    if (settle) sim.settle();
  }

  #observeAll(): void {
    const { sim } = this;
    sim.work();
    this.reference.observe(
      [...sim.clusters.values()].map((cluster) => this.#observe(cluster)),
      sim.now + this.#skew,
      sim.now,
      sim.pipeline.spec.paused,
    );
  }

  #observe(cluster: SimulatedCluster): ReferenceObservation {
    const { name, environment, paused, applying, target } = cluster;
    const answer = cluster.health(this.sim.now)?.answer;
    return {
      name,
      stage: environment,
      paused,
      reachable: cluster.reachable && cluster.identity === 'Verified',
      digest: applying ? undefined : cluster.applied?.digest,
      health: answer === undefined || answer === 'Unknown' ? 'Other' : answer,
      applyErrors: applyErrorsOf(cluster),
      target: target?.digest,
      waitsForUnit: waitsForUnit(cluster),
    };
  }

  /** 7: only proven commits are called proven, status only moves forward, and every wait has a reason. */
  #checkStatus(): void {
    for (const release of this.sim.releases.values()) this.#checkRelease(release);
  }

  #checkRelease({ metadata, spec, status }: Release): void {
    for (const [index, stage] of (status?.stages ?? []).entries()) {
      const proven = this.reference.provenIn[index] ?? new Set();
      this.#checkStage(`${metadata.name} ${stage.name}`, stage, proven.has(spec.commit));
    }
  }

  #checkStage(key: string, stage: ReleaseStage, isProven: boolean): void {
    const rank = RANKS[stage.state];
    if (rank < (this.#ranks.get(key) ?? 0)) throw new Error(`7: ${key} moved back to ${stage.state}`);
    this.#ranks.set(key, rank);
    if (stage.state === 'Proven' && !isProven) throw new Error(`S31: ${key} is Proven without proof`);
    if (!hasReason(stage)) throw new Error(`7: ${key} is ${stage.state} without a reason`);
  }

  /** 6: without faults, every cluster reaches the last commit, and its Release succeeds. */
  recover(): void {
    const { sim } = this;
    this.#pause(false);
    const healthy = { reachable: true, paused: false, unhealthy: 'No', trouble: 'None' } as const;
    for (const name of sim.clusters.keys()) this.#change(name, () => healthy);
    const has = new Set([...sim.clusters.values()].map(({ environment }) => environment));
    for (const name of NAMES.filter((each) => !has.has(each))) {
      sim.addCluster(`${name}-9`, { environment: name });
    }
    this.#push(this.#changed('*', 'app', false), 0);
    const version = `v${++this.#version}`;
    this.#push(Object.fromEntries(NAMES.map((name) => [name, { app: version, base: version }])));
    const slowest = Math.max(...this.#scenario.stages.map(({ soakSeconds }) => soakSeconds));
    const last = sim.commits.at(-1)?.id ?? '';
    const enoughMs = (sim.clusters.size + 2) * (slowest * SECOND + 2 * MINUTE) * 2;
    sim.run(enoughMs, () => sim.release(last).status?.finishedAt !== undefined);
    this.#checkResult(last);
  }

  #checkResult(last: string): void {
    const targets = new Map(this.sim.commits.at(-1)?.targets);
    const wrong = [...this.sim.clusters.values()].filter(
      ({ name, applied }) => applied?.digest !== targets.get(name)?.digest,
    );
    if (wrong.length > 0) throw new Error(`6: ${wrong.map(({ name }) => name).join()} run other content`);
    const { phase, stages } = { ...this.sim.release(last).status };
    if (phase !== 'Succeeded') {
      throw new Error(`6: the last Release has not succeeded: ${JSON.stringify(stages)}`);
    }
  }
}

type Acts = {
  readonly [E in ScenarioEvent as E['do']]: (event: Extract<ScenarioEvent, { do: E['do'] }>) => void;
};

const RANKS = {
  Pending: 0,
  Waiting: 0,
  Promoting: 1,
  Soaking: 1,
  Failed: 1,
  Proven: 2,
  Superseded: 2,
} as const;

function hasReason({ state, waiting }: ReleaseStage): boolean {
  const needsReason = state !== 'Pending' && RANKS[state] < 2;
  return !needsReason || (waiting !== undefined && waiting.reason !== '' && waiting.since !== '');
}

function waitsForUnit({ trouble, applying, applied, target }: SimulatedCluster): boolean {
  const isWritten = applied?.digest === target?.digest && !applying;
  return trouble === 'UnitPaused' && target !== undefined && !isWritten;
}

function applyErrorsOf({ trouble, applying }: SimulatedCluster): ReferenceObservation['applyErrors'] {
  if (trouble === 'None') return 'None';
  return trouble === 'Permanent' && applying ? 'Failed' : 'Failing';
}
