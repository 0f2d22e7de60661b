import { describe, expect, it } from 'vitest';
import {
  requireBootOnce,
  requireCycle,
  withBootOnce,
} from '../../../../../src/cli/commands/machine/power/boot-once.ts';
import type { PowerSwitch } from '../../../../../src/providers/power.ts';

const { signal } = new AbortController();

function bench(): { readonly power: PowerSwitch; readonly calls: string[] } {
  const calls: string[] = [];
  const bootOnce = async (device: string | undefined): Promise<void> => void calls.push(device ?? 'none');
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
