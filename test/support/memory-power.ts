/** Power switches over hosts in memory: power changes late, answers are lost, and a BMC is silent, refuses, reads what is wrong or belongs to another host. */
import type { Machine } from '../../src/api/generated/types.ts';
import type { Clock } from '../../src/os/clock.ts';
import { ProviderError, type ProviderErrorCode } from '../../src/providers/contract.ts';
import type {
  NoPowerSwitch,
  PowerState,
  PowerSwitch,
  PowerSwitches,
  PowerWay,
} from '../../src/providers/power.ts';

/** What befalls one way to the switch of a machine. */
export interface WayFault {
  /** There is no switch this way. */
  none?: string;
  /** Every request fails so, and changes nothing. */
  refuses?: ProviderErrorCode;
  /** Reading fails so. */
  silent?: ProviderErrorCode;
  /** So many requests are carried out, and their answers are lost. */
  lostAnswers?: number;
  /** What it reads, whatever is so. */
  alwaysReads?: PowerState;
  /** It accepts requests, and does nothing. */
  isDeaf?: boolean;
}

export interface HostPower {
  isOn: boolean;
  /** Times that it went off, and that it went on. */
  offs: number;
  ons: number;
  change: { readonly desired: 'On' | 'Off'; readonly atMs: number } | undefined;
}

export interface MemoryPower extends PowerSwitches {
  /** In order: `BMC Off m`. */
  readonly requests: string[];
  readonly faults: Partial<Record<PowerWay, WayFault>>;
  /** How long after a request the power changes. */
  delayMs: number;
  hostOf(name: string): HostPower;
  /** Time has passed. */
  settle(): void;
}

export interface MemoryPowerOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly changed?: (machine: string, isOn: boolean) => void;
  /** Called before each call of the port, and may throw. */
  readonly called?: (call: string) => void;
}

export function createMemoryPower({ clock, changed, called }: MemoryPowerOptions): MemoryPower {
  const hosts = new Map<string, HostPower>();
  const power: MemoryPower = { requests: [], faults: {}, delayMs: 0, open, hostOf, settle };
  return power;

  function hostOf(name: string): HostPower {
    const host = hosts.get(name) ?? { isOn: true, offs: 0, ons: 0, change: undefined };
    hosts.set(name, host);
    return host;
  }

  function settle(): void {
    for (const [name, host] of hosts) settleHost(name, host);
  }

  function settleHost(name: string, host: HostPower): void {
    const { change } = host;
    if (!change || change.atMs > clock.now().getTime()) return;
    host.change = undefined;
    const isOn = change.desired === 'On';
    if (host.isOn === isOn) return;
    host.isOn = isOn;
    if (isOn) host.ons += 1;
    else host.offs += 1;
    changed?.(name, isOn);
  }

  async function open(machine: Machine, way: PowerWay): Promise<PowerSwitch | NoPowerSwitch> {
    called?.(`open ${way}`);
    const { none } = power.faults[way] ?? {};
    if (none !== undefined) return { because: none };
    const { name } = machine.metadata;
    return {
      way,
      state: async () => read(name, way),
      request: async (desired) => request(name, way, desired),
    };
  }

  function read(name: string, way: PowerWay): PowerState {
    called?.(`state ${way}`);
    settle();
    const { silent, alwaysReads } = power.faults[way] ?? {};
    if (silent !== undefined) throw new ProviderError(silent, 'the switch does not answer');
    if (alwaysReads !== undefined) return alwaysReads;
    const { isOn, change } = hostOf(name);
    const isChanging = change !== undefined && (change.desired === 'On') !== isOn;
    if (isChanging) return power.delayMs > 1000 ? stateOf(isOn) : 'Changing';
    return stateOf(isOn);
  }

  function request(name: string, way: PowerWay, desired: 'On' | 'Off'): void {
    called?.(`request ${way} ${desired}`);
    const fault = power.faults[way] ?? {};
    power.requests.push(`${way} ${desired} ${name}`);
    if (fault.refuses !== undefined) throw new ProviderError(fault.refuses, `${desired} was refused`);
    if (!fault.isDeaf) hostOf(name).change = { desired, atMs: clock.now().getTime() + power.delayMs };
    const { lostAnswers = 0 } = fault;
    if (lostAnswers === 0) return;
    fault.lostAnswers = lostAnswers - 1;
    throw new ProviderError('Ambiguous', 'the answer was lost');
  }
}

function stateOf(isOn: boolean): PowerState {
  return isOn ? 'On' : 'Off';
}
