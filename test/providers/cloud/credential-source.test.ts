import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/os/clock.ts';
import { createCredentialSource } from '../../../src/providers/cloud/credential-source.ts';

const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;

interface Token {
  readonly name: string;
  readonly expiresAt?: Date;
}

/** Each load gives the next number, valid for an hour. */
function bed(): {
  now: number;
  loads: number;
  fails: boolean;
  source: ReturnType<typeof createCredentialSource<Token>>;
} {
  const clock: Clock = {
    now: () => new Date(state.now),
    monotonicMs: () => state.now,
    sleep: () => Promise.resolve(),
  };
  const load = async (): Promise<Token> => {
    state.loads += 1;
    if (state.fails) throw new Error('no answer');
    return { name: String(state.loads), expiresAt: new Date(state.now + 60 * MINUTE_MS) };
  };
  const state = { now: 0, loads: 0, fails: false, source: createCredentialSource(load, clock) };
  return state;
}

describe('createCredentialSource', () => {
  it('loads once for all calls that wait, and keeps what is valid', async () => {
    const one = bed();
    const all = await Promise.all([1, 2, 3].map(() => one.source.get(NEVER)));
    one.now = 54 * MINUTE_MS;
    expect([...all, await one.source.get(NEVER)].map(({ name }) => name)).toEqual(['1', '1', '1', '1']);
  });

  it('loads new ones five minutes before the end', async () => {
    const one = bed();
    await one.source.get(NEVER);
    one.now = 55 * MINUTE_MS;
    expect((await one.source.get(NEVER)).name).toBe('2');
  });

  it('uses those that are still valid while no new ones come, and no longer', async () => {
    const one = bed();
    await one.source.get(NEVER);
    one.fails = true;
    one.now = 59 * MINUTE_MS;
    expect((await one.source.get(NEVER)).name).toBe('1');
    one.now = 60 * MINUTE_MS;
    await expect(one.source.get(NEVER)).rejects.toThrow('no answer');
  });

  it('loads again after a failure', async () => {
    const one = bed();
    one.fails = true;
    await expect(one.source.get(NEVER)).rejects.toThrow('no answer');
    one.fails = false;
    expect((await one.source.get(NEVER)).name).toBe('2');
  });

  it('forgets what was refused, and nothing that came after it', async () => {
    const one = bed();
    const first = await one.source.get(NEVER);
    one.source.forget(first);
    const second = await one.source.get(NEVER);
    one.source.forget(first);
    expect([second.name, (await one.source.get(NEVER)).name]).toEqual(['2', '2']);
  });

  it('rejects with the reason of the signal, and the others still get them', async () => {
    const one = bed();
    const stop = new AbortController();
    const [stopped, other] = [one.source.get(stop.signal), one.source.get(NEVER)];
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect((await other).name).toBe('1');
  });
});
