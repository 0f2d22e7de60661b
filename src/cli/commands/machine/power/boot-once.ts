/** Has a host boot from another device in one power cycle of a person, and in no later start. */
import type { BootDevice, PowerSwitch } from '../../../../providers/power.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { SequenceEnd } from './sequence.ts';

export const BOOT_DEVICES = ['Pxe', 'Cd', 'Hdd'] as const satisfies readonly BootDevice[];

/** Throws unless the host is switched off and on: with any other act the device would be that of a later start, which would be unexpected. */
export function requireCycle(device: BootDevice | undefined, action: string | undefined): void {
  if (device === undefined || action === 'PowerCycle') return;
  throw new CliError('expected --boot-once with --cycle', {
    hint: 'add --cycle, or leave --boot-once out',
    exitCode: EXIT.badInput,
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
 * so that a later repair does not boot from it.
 */
export async function withBootOnce(
  power: PowerSwitch,
  { device, signal }: BootOnce,
  work: () => Promise<SequenceEnd>,
): Promise<SequenceEnd> {
  if (device === undefined) return await work();
  await power.bootOnce?.(device, signal);
  let end: SequenceEnd | undefined;
  try {
    end = await work();
    return end;
  } finally {
    const isOn = end !== undefined && end.missed === undefined;
    if (!isOn) await power.bootOnce?.(undefined, new AbortController().signal);
  }
}
