/** Opens the power switch of a machine the first way that leads to one, and reads the power. */
import type { Machine } from '../../../../api/generated/types.ts';
import { messageOf } from '../../../../os/errors.ts';
import { isProviderError } from '../../../../providers/contract.ts';
import type { PowerState, PowerSwitch, PowerSwitches, PowerWay } from '../../../../providers/power.ts';

export type OpenedSwitch =
  | {
      readonly type: 'Read';
      readonly power: PowerSwitch;
      readonly state: PowerState;
      /** Why the ways before it were not taken, for people. */
      readonly passed?: string;
    }
  /** The switch may answer later. */
  | { readonly type: 'Silent'; readonly because: string }
  /** No way leads to a switch. */
  | { readonly type: 'None'; readonly because: string };

export interface SwitchSearch {
  readonly ways: readonly PowerWay[];
  /** Whether a way that does not answer has had its time, so that the next one is tried, too. */
  readonly passesSilent: boolean;
}

/** Tries the next way where this one certainly has no switch, or refuses to read it: what is silent may answer later, and is given time. */
export async function openSwitch(
  switches: PowerSwitches,
  machine: Machine,
  { ways, passesSilent }: SwitchSearch,
  signal: AbortSignal,
): Promise<OpenedSwitch> {
  const reasons: string[] = [];
  let isSilent = false;
  for (const way of ways) {
    // oxlint-disable-next-line no-await-in-loop -- one way after the other
    const opened = await openWay(switches, machine, way, signal);
    if (opened.type === 'Read') {
      return reasons.length > 0 ? { ...opened, passed: reasons.join('; ') } : opened;
    }
    reasons.push(opened.because);
    isSilent ||= opened.type === 'Silent';
    if (isSilent && !passesSilent) break;
  }
  return { type: isSilent ? 'Silent' : 'None', because: reasons.join('; ') };
}

async function openWay(
  switches: PowerSwitches,
  machine: Machine,
  way: PowerWay,
  signal: AbortSignal,
): Promise<OpenedSwitch> {
  const where = `${way} of machine ${machine.metadata.name}`;
  try {
    const power = await switches.open(machine, way, signal);
    if ('because' in power) return { type: 'None', because: `${where}: ${power.because}` };
    return { type: 'Read', power, state: await power.state(signal) };
  } catch (error) {
    return { type: isCertain(error) ? 'None' : 'Silent', because: `${where}: ${messageOf(error)}` };
  }
}

/** Tells whether nothing happened, and the same request will not succeed later, either. */
export function isCertain(error: unknown): boolean {
  return isProviderError(error, 'Auth', 'NotFound', 'Terminal', 'Quota');
}
