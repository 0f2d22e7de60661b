import { describe, expect, it } from 'vitest';
import { type SequenceEnd, switchInOrder } from '../../../../../src/cli/commands/machine/power/sequence.ts';
import { ProviderError } from '../../../../../src/providers/contract.ts';
import type { PowerState, PowerSwitch } from '../../../../../src/providers/power.ts';
import { virtualClock } from '../../../../support/virtual-clock.ts';

interface Bench {
  readonly power: PowerSwitch;
  readonly requested: string[];
}

/** Answers each read with the next state; the last one stays. */
function bench(...states: readonly (PowerState | ProviderError)[]): Bench {
  return benchRefusing(undefined, ...states);
}

/** Answers each request by the error. */
function benchRefusing(
  refusal: ProviderError | undefined,
  ...states: readonly (PowerState | ProviderError)[]
): Bench {
  const requested: string[] = [];
  const left = [...states];
  const state = async (): Promise<PowerState> => {
    const next = left.length > 1 ? left.shift() : left[0];
    if (next instanceof Error) throw next;
    return next ?? 'Unknown';
  };
  const request = async (wanted: string): Promise<void> => {
    requested.push(wanted);
    if (refusal) throw refusal;
  };
  return { power: { way: 'BMC', state, request }, requested };
}

async function run({ power }: Bench, wanted: readonly ('On' | 'Off')[]): Promise<SequenceEnd> {
  const clock = virtualClock();
  const limits = { clock, signal: new AbortController().signal, withinMs: 10_000 };
  const call = switchInOrder(power, wanted, limits);
  call.catch(() => undefined);
  while (await clock.advanceToNext());
  return await call;
}

const LATE = new ProviderError('Retryable', 'the BMC did not answer');

describe('switchInOrder', () => {
  it('requests the second state only when the first one was read back', async () => {
    const host = bench('On', 'Changing', 'Off', 'Off', 'On');
    expect(await run(host, ['Off', 'On'])).toEqual({ state: 'On' });
    expect(host.requested).toEqual(['Off', 'On']);
  });

  it.each<[string, PowerState]>([
    ['stays on', 'On'],
    ['has an unknown state', 'Unknown'],
    ['keeps changing', 'Changing'],
  ])('requests nothing after a machine that %s', async (_, state) => {
    const host = bench(state);
    expect(await run(host, ['Off', 'On'])).toEqual({ state, missed: 'Off' });
    expect(host.requested).toEqual(['Off']);
  });

  it('reads again after an answer that is missing, and never takes it for the state', async () => {
    expect(await run(bench(LATE, LATE, 'Off'), ['Off'])).toEqual({ state: 'Off' });
    expect(await run(bench(LATE), ['Off'])).toEqual({ state: 'Unknown', missed: 'Off' });
  });

  it('reads the state after a request without an answer, and sends no request twice', async () => {
    const lost = new ProviderError('Ambiguous', 'the answer was lost');
    const host = benchRefusing(lost, 'On', 'Off', 'On');
    expect(await run(host, ['Off', 'On'])).toEqual({ state: 'On' });
    expect(host.requested).toEqual(['Off', 'On']);
  });

  it('names the error of the request when the state does not follow', async () => {
    const busy = new ProviderError('Retryable', 'the request was throttled');
    const host = benchRefusing(busy, 'On');
    await expect(run(host, ['Off', 'On'])).rejects.toThrow('the request was throttled');
    expect(host.requested).toEqual(['Off']);
  });

  it('ends at once with a refusal, and requests nothing after it', async () => {
    const host = benchRefusing(new ProviderError('Auth', 'no right'), 'On');
    await expect(run(host, ['Off', 'On'])).rejects.toThrow('no right');
    expect(host.requested).toEqual(['Off']);
  });

  it('ends with an error that no time heals', async () => {
    const other = new ProviderError('Terminal', 'another host', { reason: 'BMCOfAnotherHost' });
    await expect(run(bench(other), ['Off'])).rejects.toThrow('another host');
  });
});
