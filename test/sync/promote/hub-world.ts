/** The small world with the real controller in it: a hub in memory, ports that can fail, and processes that end. */
import type { Cluster, Pipeline, Release } from '../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type Promotion, promotion } from '../../../src/sync/promote/controller.ts';
import type { HubStore } from '../../../src/sync/promote/ports.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { SmallWorld, type WorldOptions } from './small-world.ts';

/** The process ends here: nothing after it happens. */
export class Killed extends Error {}

export class HubWorld {
  readonly world: SmallWorld;
  readonly pipelines = new Map<string, Pipeline>();
  readonly clusters = new Map<string, Cluster>();
  readonly releases = new Map<string, Release>();
  /** Every call of a port, in order. */
  readonly calls: string[] = [];
  readonly events: string[] = [];
  log: MemoryLog = memoryLog();
  /** Ends the process before or after the n-th call. */
  kill: { readonly at: number; readonly when: 'before' | 'after' } | undefined;
  /** An error instead of the call that matches, as long as it is set. */
  broken: RegExp | undefined;
  head: { readonly unread?: string } = {};
  #promotion: Promotion;
  #version = 0;
  #wakeAt: Date | undefined;
  #news = false;

  constructor(options: WorldOptions = {}) {
    this.world = new SmallWorld(options);
    this.world.quiet = true;
    this.put(this.pipelines, this.world.pipeline);
    for (const cluster of this.world.clusters.values()) this.put(this.clusters, cluster.object());
    this.#promotion = this.#start();
  }

  put<T extends KubeObject>(into: Map<string, T>, object: T): void {
    const metadata = { ...object.metadata, generation: 1, resourceVersion: String(++this.#version) };
    into.set(object.metadata.name, { ...object, metadata });
  }

  #start(): Promotion {
    return promotion({
      hub: this.#hub(),
      source: {
        accepted: async () => {
          await this.#call('accepted', () => undefined);
          return { commits: this.world.accepted(), head: { verdict: 'Accepted', ...this.head } };
        },
      },
      clusters: {
        setTarget: (name, target) => {
          this.#act(`target ${name} ${target.mode} ${target.commit ?? '-'}`, () => {
            const cluster = this.world.cluster(name);
            // A worker that learns something new reports it, and that is worth another pass.
            this.#news ||= cluster.target?.digest !== target.digest || cluster.target?.mode !== target.mode;
            this.world.tell(cluster, target);
          });
        },
        report: (name) => this.world.cluster(name).report(this.world.now),
      },
      runner: {
        run: async ({ name }, { cluster }) => ({
          result: this.world.checkResult(cluster, name),
          message: 'asked',
        }),
      },
      clock: {
        now: () => new Date(this.world.now),
        monotonicMs: () => this.world.now,
        sleep: () => new Promise(() => undefined),
      },
      log: this.log,
      announce: ({ metadata }, { type, reason }) => this.events.push(`${type} ${metadata.name} ${reason}`),
    });
  }

  #hub(): HubStore {
    return {
      pipeline: (name) => this.#call('get pipeline', () => this.pipelines.get(name)),
      pipelines: () => this.#call('list pipelines', () => [...this.pipelines.values()]),
      clusters: () => this.#call('list clusters', () => [...this.clusters.values()]),
      releasesOf: () => this.#call('list releases', () => [...this.releases.values()]),
      applyClusterStatus: (cluster) => this.#write('cluster', this.clusters, cluster),
      applyPipelineStatus: (pipeline) => this.#write('pipeline', this.pipelines, pipeline),
      applyReleaseStatus: (release) => this.#write('release', this.releases, release),
      createRelease: (release) =>
        this.#call(`create ${release.metadata.name}`, () => {
          if (!this.releases.has(release.metadata.name)) this.put(this.releases, release);
        }),
      deleteRelease: ({ metadata }) =>
        this.#call(`delete ${metadata.name}`, () => void this.releases.delete(metadata.name)),
    };
  }

  #write<T extends KubeObject>(kind: string, into: Map<string, T>, object: T): Promise<void> {
    return this.#call(`${kind} ${object.metadata.name}`, () => {
      const present = into.get(object.metadata.name);
      const { resourceVersion } = object.metadata;
      if (
        !present ||
        (resourceVersion !== undefined && present.metadata.resourceVersion !== resourceVersion)
      ) {
        throw new Error(`${kind} ${object.metadata.name} has changed`);
      }
      this.put(into, { ...present, status: structuredClone(object['status']) });
    });
  }

  async #call<T>(name: string, act: () => T): Promise<T> {
    await Promise.resolve();
    return this.#act(name, act);
  }

  #act<T>(name: string, act: () => T): T {
    const at = this.calls.push(name);
    const { at: last, when } = this.kill ?? { at: Number.POSITIVE_INFINITY, when: 'after' };
    if (at > last || (at === last && when === 'before')) throw new Killed(name);
    if (this.broken?.test(name)) throw new Error(`${name}: the hub does not answer`);
    const result = act();
    if (at === last) throw new Killed(name);
    return result;
  }

  /** One pass. What a dead process would have done after its end does not happen; a new one starts. */
  async pass(): Promise<boolean> {
    this.world.work();
    const before = this.calls.length;
    this.#news = false;
    try {
      const { wakeAt } = await this.#promotion.reconcile('fleet');
      this.#wakeAt = wakeAt;
      await Promise.resolve();
    } catch (error) {
      if (!(error instanceof AggregateError || error instanceof Error)) throw error;
      this.#wakeAt = new Date(this.world.now + 1000);
      if (this.kill && this.calls.length >= this.kill.at) {
        this.kill = undefined;
        this.world.restart();
        this.#promotion = this.#start();
        return true;
      }
    }
    return (
      this.#news || this.calls.slice(before).some((call) => /^(cluster|release|create|delete) /.test(call))
    );
  }

  async settle(): Promise<void> {
    for (let index = 0; index < 40; index++) {
      if (!(await this.pass())) return;
    }
    throw new Error('the controller does not come to rest');
  }

  async run(ms: number): Promise<void> {
    const end = this.world.now + ms;
    await this.settle();
    while (this.world.now < end) {
      this.world.now = Math.min(end, this.world.nextMoment(this.#wakeAt));
      await this.settle();
    }
  }

  /** What each cluster was given, one after the other; that something was gone on with does not count. */
  history(name: string): string[] {
    const digests = this.world.writes.filter(({ cluster }) => cluster === name).map(({ digest }) => digest);
    return digests.filter((digest, index) => digest !== digests[index - 1]);
  }

  states(commit: string): string {
    const release = [...this.releases.values()].find(({ spec }) => spec.commit === commit);
    return (release?.status?.stages ?? []).map(({ state }) => state).join(' ');
  }
}
