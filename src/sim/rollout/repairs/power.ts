/**
 * Simulates the power of machines: kernels die and answer nothing until the machine was off and on, some come back by themselves, and the
 * switches change the power late, lose answers and fall silent.
 */

import { ProviderError } from '../../../providers/contract.ts';
import type {
  NoPowerSwitch,
  PowerState,
  PowerSwitch,
  PowerSwitches,
  PowerWay,
} from '../../../providers/power.ts';
import { reportBoot, type SimulatedHost } from '../hosts.ts';
import type { PeopleContext } from '../people.ts';
import type { RepairJudge } from './judge/repair-judge.ts';

export interface SimulatedPower {
  readonly switches: PowerSwitches;
  /** Carries out what was requested some time ago. */
  step(): void;
  /** The kernel of a host dies. It may come back by itself. */
  die(host: SimulatedHost): void;
  /** People have all hosts boot that are dead and not off. No switch fails any more. */
  calm(): void;
}

type PowerContext = Pick<PeopleContext, 'api' | 'random' | 'nowMs' | 'hosts'> & {
  readonly judge: Pick<RepairJudge, 'offRequested' | 'powerChanged'>;
};

interface Change {
  readonly desired: 'On' | 'Off';
  readonly atMs: number;
}

const SECOND_MS = 1000;
/** The chances of each call of a switch. */
const RATES = { silent: 0.05, lost: 0.08, none: 0.05, back: 0.15 } as const;

export const NO_SWITCHES: PowerSwitches = { open: async () => ({ because: 'no machine has a switch' }) };

export function createSimulatedPower({ api, random, nowMs, hosts, judge }: PowerContext): SimulatedPower {
  const off = new Set<SimulatedHost>();
  const changes = new Map<SimulatedHost, Change>();
  const returns = new Map<SimulatedHost, number>();
  let isCalm = false;
  return { switches: { open }, step, die, calm };

  async function open(
    { metadata }: { readonly metadata: { readonly name: string } },
    way: PowerWay,
  ): Promise<PowerSwitch | NoPowerSwitch> {
    const host = hosts.get(metadata.name);
    if (!host) return { because: 'the machine has no host' };
    if (way === 'BMC' && befalls(RATES.none)) return { because: 'its BMC is not configured' };
    return { way, state: async () => read(host), request: async (desired) => request(host, desired) };
  }

  function befalls(chance: number): boolean {
    return !isCalm && random.chance(chance);
  }

  function read(host: SimulatedHost): PowerState {
    if (befalls(RATES.silent)) throw new ProviderError('Retryable', 'the switch does not answer');
    if (befalls(RATES.silent)) return 'Unknown';
    comeBack(host);
    return off.has(host) ? 'Off' : 'On';
  }

  /** A host that would have come back later does so now: between the decision to switch it off and the request. */
  function comeBack(host: SimulatedHost): void {
    if (off.has(host) || !returns.has(host) || !befalls(RATES.back)) return;
    boot(host);
    host.notReadyUntilMs = nowMs();
    reportBoot(host, { api, nowMs });
  }

  function request(host: SimulatedHost, desired: 'On' | 'Off'): void {
    if (befalls(RATES.silent)) throw new ProviderError('Retryable', 'the switch does not answer');
    if (desired === 'Off') judge.offRequested(host.name);
    changes.set(host, { desired, atMs: nowMs() + random.below(40) * SECOND_MS });
    if (befalls(RATES.lost)) throw new ProviderError('Ambiguous', 'the answer was lost');
  }

  function step(): void {
    for (const [host, { desired, atMs }] of changes) if (nowMs() >= atMs) carryOut(host, desired);
    for (const [host, atMs] of returns) if (nowMs() >= atMs && !off.has(host)) boot(host);
  }

  function carryOut(host: SimulatedHost, desired: Change['desired']): void {
    changes.delete(host);
    const isOn = desired === 'On';
    if (isOn !== off.has(host)) return;
    if (isOn) off.delete(host);
    else off.add(host);
    judge.powerChanged(host.name, isOn);
    // Some die again while they boot.
    if (isOn && !befalls(0.2)) boot(host);
    else host.isDown = true;
  }

  function die(host: SimulatedHost): void {
    if (host.isDown) return;
    host.isDown = true;
    if (random.chance(0.4)) returns.set(host, nowMs() + random.below(600) * SECOND_MS);
  }

  function boot(host: SimulatedHost): void {
    returns.delete(host);
    const upMs = nowMs() + (20 + random.below(60)) * SECOND_MS;
    host.boots += 1;
    host.isDown = false;
    // Its kubelet may be back long before its agent.
    host.silentUntilMs = upMs + random.below(120) * SECOND_MS;
    host.notReadyUntilMs = upMs;
  }

  function calm(): void {
    isCalm = true;
    for (const host of hosts.values()) if (host.isDown && !off.has(host)) boot(host);
  }
}
