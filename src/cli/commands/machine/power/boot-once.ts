/** Boots a host from another device in one power cycle of a person, and in no later start. */
import { messageOf } from '../../../../os/errors.ts';
import { isProviderError } from '../../../../providers/contract.ts';
import type { BootDevice, PowerSwitch } from '../../../../providers/power.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { SequenceEnd } from './sequence.ts';

export const BOOT_DEVICES = ['Pxe', 'Cd', 'Hdd'] as const satisfies readonly BootDevice[];

/** Throws unless the host is switched off and on: with any other act the device would be that of a later start, which would be unexpected. */
export function requireCycle(device: BootDevice | undefined, action: string | undefined): void {
  if (device === undefined || action === 'PowerCycle') return;
  throw new CliError('expected --boot-once with --cycle', {
    hint: 'add --cycle, or leave --boot-once out',
    exitCode: EXIT.usage,
  });
}

/** Throws for a switch without devices, before the Defender is asked. */
export function requireBootOnce(
  machine: string,
  { bootOnce }: Pick<PowerSwitch, 'bootOnce'>,
  device: BootDevice | undefined,
): void {
  if (device === undefined || bootOnce) return;
  throw new CliError(`the provider of ${machine} has no other device to boot from`, {
    hint: 'leave --boot-once out, or switch a host with a BMC',
    exitCode: EXIT.badInput,
  });
}

interface BootOnce {
  readonly device: BootDevice | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sets the device, and then switches: a BMC that refuses it interrupts nothing. Where the host was not switched on, the device is taken back,
 * so that a later repair does not boot from it. So is one of which it is not known whether it was set.
 */
export async function withBootOnce(
  power: PowerSwitch,
  { device, signal }: BootOnce,
  work: () => Promise<SequenceEnd>,
): Promise<SequenceEnd> {
  if (device === undefined) return await work();
  try {
    await power.bootOnce?.(device, signal);
  } catch (error) {
    // Any other error than one of the provider is an interrupt of the person.
    const mayBeSet = !isProviderError(error) || error.code === 'Ambiguous';
    if (mayBeSet) await takeBack(power, messageOf(error));
    throw error;
  }
  return await switchFromDevice(power, work);
}

async function switchFromDevice(power: PowerSwitch, work: () => Promise<SequenceEnd>): Promise<SequenceEnd> {
  let end: SequenceEnd;
  try {
    end = await work();
  } catch (error) {
    await takeBack(power, messageOf(error));
    throw error;
  }
  if (end.missed !== undefined) await takeBack(power, `the power is ${end.state}, and not ${end.missed}`);
  return end;
}

/** Takes the device back, also after an interrupt of the person. Throws with the first failure where that fails, too. */
async function takeBack(power: PowerSwitch, cause: string): Promise<void> {
  try {
    await power.bootOnce?.(undefined, new AbortController().signal);
  } catch (error) {
    throw new CliError(`${cause}; and the device to boot from was not taken back: ${messageOf(error)}`, {
      hint: 'read the boot device in the BMC of the host, and set it back there: its next start may boot from it',
      exitCode: EXIT.unavailable,
    });
  }
}
