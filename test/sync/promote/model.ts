/** Carries out one scenario of the model test, and checks the invariants on the way. */
import type { Release } from '../../../src/api/generated/types.ts';
import { Reference, type RefSight } from './reference.ts';
import { type Content, type FakeCluster, MINUTE, SECOND, SmallWorld, stageOf } from './small-world.ts';

export type Event =
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
  | { readonly do: 'ill'; readonly cluster: string; readonly how: FakeCluster['ill'] }
  | { readonly do: 'trouble'; readonly cluster: string; readonly how: FakeCluster['trouble'] }
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
  readonly events: readonly Event[];
}

const NAMES = ['test', 'pre', 'prod'] as const;
type Contents = Record<string, Content>;

/** Throws when a promise is broken. */
export function execute(scenario: Scenario, watch?: (world: SmallWorld) => void): 'kept' {
  const model = new Model(scenario);
  model.world.quiet = watch === undefined;
  watch?.(model.world);
  for (const event of scenario.events) model.happen(event);
  model.heal();
  return 'kept';
}

class Model {
  readonly world: SmallWorld;
  readonly reference: Reference;
  readonly #scenario: Scenario;
  readonly #history: Contents[] = [];
  #version = 0;
  /** Real time minus wall time. */
  #skew = 0;
  #backup:
    | {
        releases: SmallWorld['releases'];
        pipeline: SmallWorld['pipeline'];
        clusters: Map<string, FakeCluster['status']>;
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
    this.world = new SmallWorld({
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
      (digest) => new Map(Object.entries(this.world.contents.get(digest) ?? {})),
    );
    this.world.beforePass = () => this.#look();
    this.world.onWrite = ({ cluster, commit }) => this.reference.write(cluster, commit, this.world.now);
    this.world.onPass = () => this.#checkStatus();
    this.#push(Object.fromEntries(NAMES.map((name) => [name, { app: 'v0', base: 'v0' }])));
  }

  happen(event: Event): void {
    const { world } = this;
    switch (event.do) {
      case 'wait':
        world.run(event.seconds * SECOND);
        return;
      case 'push':
        this.#push(this.#changed(event.place, event.unit, event.bad));
        return;
      case 'revert':
        this.#push(this.#history.at(-1 - event.back) ?? this.#history[0] ?? {});
        return;
      case 'docs':
        this.#push(this.#history.at(-1) ?? {});
        return;
      case 'burst':
        for (let index = 0; index < event.count; index++) this.#push(this.#changed('*', 'app', false), 0);
        world.settle();
        return;
      default:
        this.#fault(event);
        world.settle();
    }
  }

  #fault(event: Exclude<Event, { do: 'wait' | 'push' | 'revert' | 'docs' | 'burst' }>): void {
    const { world } = this;
    switch (event.do) {
      case 'restart':
        world.restart();
        this.#elapse(event.seconds * SECOND);
        return;
      case 'crash':
        this.#look();
        world.pass(event.at);
        world.restart();
        return;
      case 'jump':
        this.#skew -= event.seconds * SECOND;
        world.jump(event.seconds * SECOND);
        return;
      case 'halt':
        world.pipeline = {
          ...world.pipeline,
          spec: { ...world.pipeline.spec, paused: !world.pipeline.spec.paused },
        };
        return;
      case 'backup':
        this.#backup = {
          releases: new Map(world.releases),
          pipeline: world.pipeline,
          clusters: new Map([...world.clusters].map(([name, { status }]) => [name, status])),
        };
        return;
      case 'restore':
        this.#restore();
        return;
      case 'member':
        this.#member(event.cluster, event.stage);
        return;
      default:
        this.#clusterFault(event);
    }
  }

  #clusterFault(event: Extract<Event, { do: 'reach' | 'pause' | 'ill' | 'trouble' }>): void {
    const cluster = this.world.clusters.get(event.cluster);
    if (!cluster) return;
    if (event.do === 'reach') cluster.reachable = !cluster.reachable;
    if (event.do === 'pause') cluster.paused = !cluster.paused;
    if (event.do === 'ill') cluster.ill = event.how;
    if (event.do === 'trouble') cluster.trouble = event.how;
  }

  #member(name: string, stage: 'test' | 'pre' | 'prod' | 'gone'): void {
    const { world } = this;
    const present = world.clusters.get(name);
    if (stage === 'gone') world.clusters.delete(name);
    else if (present) present.environment = stage;
    else world.addCluster(name, { environment: stage });
  }

  /** The hub comes back from its backup; clusters are as they are. Sync was away, of course. */
  #restore(): void {
    if (!this.#backup) return;
    const { world } = this;
    world.releases.clear();
    for (const [name, release] of this.#backup.releases) world.releases.set(name, release);
    world.pipeline = { ...this.#backup.pipeline, spec: world.pipeline.spec };
    for (const [name, cluster] of world.clusters) cluster.status = this.#backup.clusters.get(name);
    world.restart();
    this.#ranks.clear();
    this.reference.forget();
  }

  /** Time passes while nobody looks. */
  #elapse(ms: number): void {
    this.world.now += ms;
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
    const { world } = this;
    this.#history.push(contents);
    const id = `c${this.#history.length}`;
    world.push(id, contents);
    const targets = world.commits.at(-1)?.targets ?? new Map<string, { digest: string }>();
    this.reference.accept({ id, digests: new Map([...targets].map(([name, { digest }]) => [name, digest])) });
    if (settle) world.settle();
  }

  #look(): void {
    const { world } = this;
    world.work();
    this.reference.look(
      [...world.clusters.values()].map((cluster) => this.#sight(cluster)),
      world.now + this.#skew,
      world.now,
      world.pipeline.spec.paused,
    );
  }

  #sight(cluster: FakeCluster): RefSight {
    const { applied, working, target, trouble } = cluster;
    const answer = this.world.healthOf(cluster)?.answer;
    const isWorking = working !== undefined;
    return {
      name: cluster.name,
      stage: cluster.environment,
      paused: cluster.paused,
      seen: cluster.reachable && cluster.identity === 'Verified',
      digest: isWorking ? undefined : applied?.digest,
      health: answer === 'Settled' || answer === 'Failed' ? answer : 'Other',
      trouble: trouble === 'None' ? 'None' : trouble === 'Permanent' && isWorking ? 'Failed' : 'Failing',
      target: target?.digest,
    };
  }

  /** 7: what is proven is proven, status only moves forward, every wait has a reason, and every list a bound. */
  #checkStatus(): void {
    for (const release of this.world.releases.values()) this.#checkRelease(release);
  }

  #checkRelease({ metadata, spec, status }: Release): void {
    for (const [index, { name, state, waiting }] of (status?.stages ?? []).entries()) {
      const key = `${metadata.name} ${name}`;
      const rank = { Pending: 0, Waiting: 0, Promoting: 1, Soaking: 1, Failed: 1, Proven: 2, Superseded: 2 }[
        state
      ];
      if (rank < (this.#ranks.get(key) ?? 0)) throw new Error(`7: ${key} went back to ${state}`);
      this.#ranks.set(key, rank);
      if (state === 'Proven' && !this.reference.provenIn[index]?.has(spec.commit))
        throw new Error(`S31: ${key} is called proven`);
      if (rank < 2 && state !== 'Pending' && (!waiting?.reason || !waiting.since))
        throw new Error(`7: ${key} is ${state} and does not say why`);
    }
  }

  /** 6: with faults off, every cluster reaches the last commit, and its Release ends well. */
  heal(): void {
    const { world } = this;
    world.pipeline = { ...world.pipeline, spec: { ...world.pipeline.spec, paused: false } };
    for (const cluster of world.clusters.values())
      Object.assign(cluster, { reachable: true, paused: false, ill: 'No', trouble: 'None' });
    for (const [index, name] of NAMES.entries()) {
      if (![...world.clusters.values()].some(({ environment }) => environment === name))
        world.addCluster(`${name}-9`, { environment: NAMES[index] ?? 'test' });
    }
    this.#push(this.#changed('*', 'app', false), 0);
    const final = Object.fromEntries(
      NAMES.map((name) => [name, { app: `v${++this.#version}`, base: `v${this.#version}` }]),
    );
    this.#push(final);
    const slowest = Math.max(...this.#scenario.stages.map(({ soakSeconds }) => soakSeconds));
    const last = world.commits.at(-1)?.id ?? '';
    const enough = (world.clusters.size + 2) * (slowest * SECOND + 2 * MINUTE) * 2;
    world.run(enough, () => world.release(last).status?.finishedAt !== undefined);
    for (const { name, applied, environment } of world.clusters.values()) {
      const wanted = world.commits.at(-1)?.targets?.get(name)?.digest;
      if (applied?.digest !== wanted)
        throw new Error(`6: ${name} of ${environment} runs ${applied?.digest}, not ${wanted}`);
    }
    const { status } = world.release(last);
    if (!status?.conditions.some(({ type, status: is }) => type === 'Succeeded' && is === 'True')) {
      throw new Error(`6: the last Release has not succeeded: ${JSON.stringify(status?.stages)}`);
    }
  }
}
