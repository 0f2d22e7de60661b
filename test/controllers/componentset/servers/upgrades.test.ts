/** API servers are upgraded one after the other while kubelets are rolled out, in any order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSkewRule, type FindIdentity } from '../../../../src/controllers/componentset/servers/skew.ts';
import type { ServerVersions } from '../../../../src/rollout/kubelet-skew.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { RolloutSimulation } from '../simulation/rollout-simulation.ts';
import type { SimulatedMachine } from '../simulation/simulated-machine.ts';

const MAX_MINORS = 3;
const FIRST = 33;

interface Step {
  readonly what: 'UpgradeServer' | 'RollOut' | 'LoseServer' | 'FindServers' | 'BreakVersion' | 'Wait';
  readonly pick: number;
  readonly seconds: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom<Step['what'][]>(
    'UpgradeServer',
    'UpgradeServer',
    'UpgradeServer',
    'RollOut',
    'RollOut',
    'LoseServer',
    'FindServers',
    'BreakVersion',
    'Wait',
  ),
  pick: fc.nat(7),
  seconds: fc.integer({ min: 0, max: 12 }).map((tens) => tens * 10),
});

const identityOf: FindIdentity = (ref) => ({ identity: 'Kubelet', version: `1.${minorOf(ref)}.0` });

function minorOf(ref: string): number {
  return Number(ref.split('-')[1]);
}

class UpgradingCluster {
  readonly servers = [FIRST, FIRST, FIRST];
  moves = 0;
  readonly sim: RolloutSimulation;
  #hasLostServer = false;
  readonly #broken = new Set<string>();

  constructor() {
    const gate = { soakSeconds: 0, checks: [], approval: 'None' } as const;
    const failure = { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackAll' } as const;
    const rollout = { batches: [1, 2], maxUnavailable: 2, gate, failure };
    this.sim = new RolloutSimulation({ machines: 4, installed: String(FIRST), rollout });
    this.sim.createSkewRule = () => createSkewRule(this.#versions(), identityOf);
    this.sim.behaviorOf = (ref) => (this.#broken.has(ref) ? 'Fails' : 'Good');
  }

  play({ what, pick, seconds }: Step): void {
    if (what === 'UpgradeServer') this.#upgrade(pick % this.servers.length);
    if (what === 'RollOut') this.sim.version(String(FIRST - 4 + pick));
    if (what === 'LoseServer') this.#hasLostServer = true;
    if (what === 'FindServers') this.#hasLostServer = false;
    if (what === 'BreakVersion') this.#broken.add(`app-${FIRST - 4 + pick}`);
    for (let second = 0; second <= seconds; second += 10) {
      this.sim.run(second === 0 ? 0 : 10);
      this.#check();
    }
  }

  #versions(): ServerVersions {
    if (this.#hasLostServer) return { state: 'Unknown', because: 'one does not answer' };
    return { state: 'Known', versions: this.servers.map((minor) => `v1.${minor}.0`) };
  }

  /** By one minor, and not past what the kubelets and the other servers support. */
  #upgrade(index: number): void {
    const next = (this.servers[index] ?? 0) + 1;
    const isSupported = Math.min(...this.#kubelets()) >= next - MAX_MINORS;
    if (isSupported && next - Math.min(...this.servers) <= 1) this.servers[index] = next;
  }

  /** What runs, and what is being started. */
  #kubelets(): readonly number[] {
    return [...this.sim.machines.values()].flatMap(({ runs, state, entries }) => {
      const starting = /^(?:Activating|Probation)/.test(state) ? entries.slice(0, 1) : [];
      return [runs, ...starting.map(({ componentRef }) => componentRef)].map(minorOf);
    });
  }

  #check(): void {
    const lowest = Math.min(...this.servers);
    const kubelets = this.#kubelets();
    const unsupported = kubelets.filter((minor) => minor > lowest || minor < lowest - MAX_MINORS);
    if (unsupported.length > 0) throw new Error(`kubelets ${unsupported.join()}, API server ${lowest}`);
    this.moves = activationsOf([...this.sim.machines.values()]);
  }
}

function activationsOf(machines: readonly SimulatedMachine[]): number {
  return machines.reduce(
    (sum, { activations }) => sum + [...activations.values()].reduce((a, b) => a + b, 0),
    0,
  );
}

describe('upgrades of API servers and kubelets', () => {
  it('ROL-53 keep the skew that Kubernetes supports at each moment, in any order', () => {
    let moves = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const cluster = new UpgradingCluster();
        for (const each of steps) cluster.play(each);
        moves += cluster.moves;
      }),
      { numRuns: LONG ? 1000 : 60 },
    );
    expect(moves).toBeGreaterThan(10);
  });

  it('ROL-53 moves every kubelet once its servers are upgraded', () => {
    const cluster = new UpgradingCluster();
    const wait = { pick: 0, seconds: 600 };
    cluster.play({ ...wait, what: 'RollOut', pick: 5 });
    expect(cluster.sim.summary()).toBe('4 run app-33; grants in work: 0');
    for (const pick of [0, 1]) cluster.play({ ...wait, what: 'UpgradeServer', pick });
    expect(cluster.sim.summary()).toBe('4 run app-33; grants in work: 0');
    cluster.play({ ...wait, what: 'UpgradeServer', pick: 2 });
    expect(cluster.sim.summary()).toBe('4 run app-34; grants in work: 0');
  });
});
