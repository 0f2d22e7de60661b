import { describe, expect, it } from 'vitest';
import {
  requireBootOnce,
  requireCycle,
  withBootOnce,
} from '../../../../../src/cli/commands/machine/power/boot-once.ts';
import type { SequenceEnd } from '../../../../../src/cli/commands/machine/power/sequence.ts';
import { ProviderError } from '../../../../../src/providers/contract.ts';
import type { PowerSwitch } from '../../../../../src/providers/power.ts';

const { signal } = new AbortController();

/** `fails` has the error of setting a device, and of taking it back. */
function bench(fails: { readonly [call in 'Pxe' | 'none']?: Error } = {}): {
  readonly power: PowerSwitch;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const errors: Readonly<Record<string, Error>> = fails;
  const bootOnce = async (device: string = 'none'): Promise<void> => {
    calls.push(device);
    const error = errors[device];
    if (error) throw error;
  };
  const power: PowerSwitch = {
    way: 'BMC',
    state: async () => 'On',
    request: async () => undefined,
    bootOnce,
  };
  return { power, calls };
}

describe('withBootOnce', () => {
  it('sets the device before the host is switched off', async () => {
    const { power, calls } = bench();
    const end = await withBootOnce(power, { device: 'Pxe', signal }, async () => {
      calls.push('cycle');
      return { state: 'On' };
    });
    expect([end, calls]).toEqual([{ state: 'On' }, ['Pxe', 'cycle']]);
  });

  it('takes the device back where a state was missed', async () => {
    const { power, calls } = bench();
    await withBootOnce(power, { device: 'Pxe', signal }, async () => ({ state: 'On', missed: 'Off' }));
    expect(calls).toEqual(['Pxe', 'none']);
  });

  it('takes the device back where the switch failed', async () => {
    const { power, calls } = bench();
    const failed = withBootOnce(power, { device: 'Cd', signal }, () =>
      Promise.reject(new Error('no answer')),
    );
    await expect(failed).rejects.toThrow('no answer');
    expect(calls).toEqual(['Cd', 'none']);
  });

  it.each<[what: string, error: Error, calls: readonly string[]]>([
    ['it may be set', new ProviderError('Ambiguous', 'no end'), ['Pxe', 'none']],
    ['a person interrupts', new Error('no end'), ['Pxe', 'none']],
    ['the BMC cannot be reached', new ProviderError('Retryable', 'no end'), ['Pxe']],
    ['the BMC refuses it, and has put its setting back', new ProviderError('Terminal', 'no end'), ['Pxe']],
  ])('takes back no more than was set, and switches nothing, where %s', async (what, error, expected) => {
    const { power, calls } = bench({ Pxe: error });
    const work = async (): Promise<never> => Promise.reject(new Error(`switched: ${what}`));
    await expect(withBootOnce(power, { device: 'Pxe', signal }, work)).rejects.toThrow('no end');
    expect(calls).toEqual(expected);
  });

  it.each<[what: string, work: () => Promise<SequenceEnd>, message: string]>([
    ['the switch failed', () => Promise.reject(new Error('no answer')), 'no answer; and the device'],
    [
      'a state was missed',
      async () => ({ state: 'Off', missed: 'On' }),
      'the power is Off, and not On; and the device',
    ],
  ])('tells what failed first where %s and the device is not taken back', async (_, work, message) => {
    const { power } = bench({ none: new Error('BMC is off') });
    const failed = withBootOnce(power, { device: 'Pxe', signal }, work);
    await expect(failed).rejects.toThrow(`${message} to boot from was not taken back: BMC is off`);
  });

  it('sets nothing where no device is asked for', async () => {
    const { power, calls } = bench();
    await withBootOnce(power, { device: undefined, signal }, async () => ({ state: 'On' }));
    expect(calls).toEqual([]);
  });
});

describe('the option --boot-once', () => {
  it('needs a power cycle', () => {
    expect(() => requireCycle('Pxe', 'PowerOn')).toThrow('expected --boot-once with --cycle');
    expect(() => requireCycle('Pxe', undefined)).toThrow('expected --boot-once with --cycle');
    const usage = expect.objectContaining({ exitCode: 64 }) as unknown;
    expect(() => requireCycle('Pxe', 'PowerOff')).toThrow(usage);
    requireCycle('Pxe', 'PowerCycle');
    requireCycle(undefined, 'PowerOn');
  });

  it('needs a BMC', () => {
    const { power } = bench();
    requireBootOnce('m', power, 'Pxe');
    requireBootOnce('m', {}, undefined);
    expect(() => requireBootOnce('m', {}, 'Pxe')).toThrow('the provider of m has no other device');
  });
});
