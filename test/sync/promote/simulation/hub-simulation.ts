/** The simulation with the real controller: a hub in memory, ports that can fail, and processes that are killed. */

import type { Cluster, Pipeline, Release } from '../../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { DeliveryEvent } from '../../../../src/observability/metrics/delivery.ts';
import {
  createPromotionController,
  type PromotionController,
} from '../../../../src/sync/promote/controller.ts';
import type { CommitSource, HubStore } from '../../../../src/sync/promote/ports.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { PromotionSimulation, type SimulationOptions } from './simulation.ts';

/** The process was killed: nothing after it runs. */
export class Killed extends Error {}

export class HubSimulation {
  readonly sim: PromotionSimulation;
  readonly pipelines = new Map<string, Pipeline>();
  readonly clusters = new Map<string, Cluster>();
  readonly releases = new Map<string, Release>();
  /** Every call of a port, in order. */
  readonly calls: string[] = [];
  readonly events: string[] = [];
  /** What was counted: `prod Failed`. */
  readonly deliveries: string[] = [];
  log: MemoryLog = memoryLog();
  /** Kills the process before or after the n-th call. */
  kill: { readonly at: number; readonly when: 'before' | 'after' } | undefined;
  /** Calls that match fail while it is set. */
  broken: RegExp | undefined;
  head: { readonly unread?: string } = {};
  #controller: PromotionController;
  #version = 0;
  #requeueAt: Date | undefined;
  #isTargetNew = false;

  constructor(options: SimulationOptions = {}) {
    this.sim = new PromotionSimulation(options);
    this.sim.quiet = true;
    this.put(this.pipelines, this.sim.pipeline);
    for (const cluster of this.sim.clusters.values()) this.put(this.clusters, cluster.object());
    this.#controller = this.#start();
  }

  put<T extends KubeObject>(into: Map<string, T>, object: T): void {
    const metadata = { ...object.metadata, generation: 1, resourceVersion: String(++this.#version) };
    into.set(object.metadata.name, { ...object, metadata });
  }

  readonly #commits: CommitSource = {
    accepted: async () => {
      await this.#call('accepted', () => undefined);
      return { commits: this.sim.accepted(), head: { verdict: 'Accepted', ...this.head } };
    },
    changes: async () => new Map(),
    content: async () => undefined,
  };

  #start(): PromotionController {
    return createPromotionController({
      hub: this.#hub(),
      clusters: {
        setTarget: (name, target) => {
          this.#act(`target ${name} ${target.mode} ${target.commit ?? '-'}`, () => {
            const cluster = this.sim.cluster(name);
            // A worker with a new target reports about it, which triggers another reconcile.
            this.#isTargetNew ||=
              cluster.target?.digest !== target.digest || cluster.target?.mode !== target.mode;
            this.sim.setTarget(cluster, target);
          });
        },
        report: (name) => this.sim.cluster(name).report(this.sim.now),
      },
      runner: {
        run: async (check, { name: cluster }) => ({
          result: this.sim.checkResult(cluster, check.name),
          message: 'simulated',
        }),
      },
      clock: {
        now: () => new Date(this.sim.now),
        monotonicMs: () => this.sim.now,
        sleep: () => new Promise(() => undefined),
      },
      log: this.log,
      times: {
        firstStageBegan: () => undefined,
        pipelineOpened: () => undefined,
        delivered: (_, event) => void this.deliveries.push(deliveryText(event)),
      },
      recordEvent: ({ metadata }, { type, reason }) => this.events.push(`${type} ${metadata.name} ${reason}`),
    });
  }

  #hub(): HubStore {
    return {
      pipeline: (name) => this.#call('get pipeline', () => this.pipelines.get(name)),
      pipelines: () => this.#call('list pipelines', () => [...this.pipelines.values()]),
      holds: () => this.sim.holds,
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
    if (this.broken?.test(name)) throw new Error(`${name}: the hub is unreachable`);
    const result = act();
    if (at === last) throw new Killed(name);
    return result;
  }

  /** One reconcile; true if anything was written. After a kill a new process starts. */
  async reconcile(): Promise<boolean> {
    this.sim.work();
    const before = this.calls.length;
    this.#isTargetNew = false;
    try {
      const { requeueAt } = await this.#controller.reconcile('fleet', this.#commits);
      this.#requeueAt = requeueAt;
      await Promise.resolve();
    } catch (error) {
      if (!(error instanceof AggregateError || error instanceof Error)) throw error;
      this.#requeueAt = new Date(this.sim.now + 1000);
      if (this.kill && this.calls.length >= this.kill.at) {
        this.kill = undefined;
        this.sim.restart();
        this.#controller = this.#start();
        return true;
      }
    }
    return (
      this.#isTargetNew ||
      this.calls.slice(before).some((call) => /^(cluster|release|create|delete) /.test(call))
    );
  }

  async settle(): Promise<void> {
    for (let index = 0; index < 40; index++) {
      if (!(await this.reconcile())) return;
    }
    throw new Error('the controller does not settle');
  }

  async run(ms: number): Promise<void> {
    const end = this.sim.now + ms;
    await this.settle();
    while (this.sim.now < end) {
      this.sim.now = Math.min(end, this.sim.nextMoment(this.#requeueAt));
      await this.settle();
    }
  }

  /** The digests that were written to the cluster, without repetitions. */
  history(name: string): string[] {
    const digests = this.sim.writes.filter(({ cluster }) => cluster === name).map(({ digest }) => digest);
    return digests.filter((digest, index) => digest !== digests[index - 1]);
  }

  states(commit: string): string {
    const release = [...this.releases.values()].find(({ spec }) => spec.commit === commit);
    return (release?.status?.stages ?? []).map(({ state }) => state).join(' ');
  }
}

function deliveryText(event: DeliveryEvent): string {
  if (event.type === 'Restored') return 'Restored';
  return event.type === 'Stage' ? `${event.stage} ${event.event}` : `Release ${event.event}`;
}
