import { describe, expect, it } from 'vitest';
import { HostCallError } from '../../../../src/sync/report/outcome.ts';
import type { HostAnswer, HostRequest } from '../../../../src/sync/report/send.ts';
import type { AppCredential } from '../../../../src/sync/report/tokens/credential.ts';
import {
  createHostTokens,
  type HostTokens,
  type TokenTarget,
} from '../../../../src/sync/report/tokens/host-tokens.ts';
import { createStandInApp, type StandInApp } from '../../../support/git-host/github-app.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const PROJECT = {
  type: 'GitHub',
  base: 'https://ghe.example.com',
  path: 'acme/fleet',
  context: 'c',
} as const;
const MINUTE_MS = 60_000;
const { signal } = new AbortController();

interface Bed {
  readonly app: StandInApp;
  readonly clock: VirtualClock;
  readonly tokens: HostTokens;
  readonly target: TokenTarget;
  /** The answer of a host that does not get to the App. */
  fault: HostAnswer | Error | undefined;
  readonly get: () => Promise<string>;
}

/** A host that answers when it is asked, or when the test lets it. */
function createBed(gate: () => Promise<void> = async () => undefined): Bed {
  const clock = virtualClock();
  const app = createStandInApp(() => clock.now());
  const tokens = createHostTokens({ clock, random: () => 1, send });
  const target = { project: PROJECT, credential: { type: 'App', ...app.data } as unknown as AppCredential };
  const bed: Bed = { app, clock, tokens, target, fault: undefined, get: () => tokens.get(target, signal) };
  return bed;

  async function send({ method, url, headers }: HostRequest): Promise<HostAnswer> {
    const { authorization } = headers;
    const answer = app.answer({ method, url: new URL(url).pathname, authorization });
    await gate();
    if (bed.fault instanceof Error) throw bed.fault;
    const { status = 404, json, headers: answered = {} } = answer ?? {};
    return bed.fault ?? { status, headers: answered, body: JSON.stringify(json) };
  }
}

const failureOf = async (work: Promise<string>): Promise<unknown> => {
  const error = await work.catch((reason: unknown) => reason);
  return error instanceof HostCallError ? error.failure : error;
};

describe('S26 the tokens of GitHub Apps', () => {
  it('are renewed five minutes before they end, and not earlier', async () => {
    const { get, clock, app } = createBed();
    expect(await get()).toBe('ghs_1234_1');
    await clock.advance(55 * MINUTE_MS - 1);
    expect(await get()).toBe('ghs_1234_1');
    await clock.advance(1);
    expect(await get()).toBe('ghs_1234_2');
    expect(app.requests).toHaveLength(2);
  });

  it('are accepted by the host at any time of four hours', async () => {
    const { get, clock, app } = createBed();
    for (let minute = 0; minute < 240; minute += 7) {
      expect(app.accepts(await get())).toBe(true);
      await clock.advance(7 * MINUTE_MS);
    }
    expect(app.requests).toHaveLength(5);
  });

  it('are renewed at half of their time where the host issues short ones', async () => {
    const { get, clock, app } = createBed();
    app.lifetimeMs = 4 * MINUTE_MS;
    await get();
    await clock.advance(2 * MINUTE_MS - 1);
    expect(await get()).toBe('ghs_1234_1');
    await clock.advance(1);
    expect(await get()).toBe('ghs_1234_2');
  });

  it('count their time without the wall clock of sync', async () => {
    const { get, clock, app } = createBed();
    await get();
    clock.jumpWall(-10 * 60 * MINUTE_MS);
    await clock.advance(56 * MINUTE_MS);
    await get();
    expect(app.requests).toHaveLength(2);
  });

  it('are shared by all that use one App, also while the first is asked for', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { tokens, target, app } = createBed(() => promise);
    const other = { ...target, project: { ...PROJECT, path: 'acme/other', context: 'other' } };
    const both = [tokens.get(target, signal), tokens.get(other, signal)];
    resolve();
    expect(await Promise.all(both)).toEqual(['ghs_1234_1', 'ghs_1234_1']);
    expect(await tokens.get(other, signal)).toBe('ghs_1234_1');
    expect(app.requests).toHaveLength(1);
  });

  it('are not shared with another key, installation or host', async () => {
    const { tokens, target, app, get } = createBed();
    await get();
    const other = { ...target, credential: { ...target.credential, installationID: '1' } as AppCredential };
    expect(await failureOf(tokens.get(other, signal))).toMatchObject({ reason: 'NotFound' });
    await tokens.get({ ...target, project: { ...PROJECT, base: 'https://other.example.com' } }, signal);
    expect(app.issued).toHaveLength(2);
  });

  it('do not end for others when one that waits is stopped', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { tokens, target, get } = createBed(() => promise);
    const stop = new AbortController();
    const [stopped, other] = [tokens.get(target, stop.signal), get()];
    stop.abort(new Error('the repository was closed'));
    await expect(stopped).rejects.toThrow('the repository was closed');
    resolve();
    expect(await other).toBe('ghs_1234_1');
  });

  it('are asked for again after a delay that grows, and fail alike for all meanwhile', async () => {
    const bed = createBed();
    bed.fault = { status: 503, headers: {}, body: '' };
    for (const delayMs of [2000, 4000, 8000]) {
      expect(await failureOf(bed.get())).toMatchObject({ reason: 'Unreachable', isTemporary: true });
      const { length } = bed.app.requests;
      await bed.clock.advance(delayMs - 1);
      expect(await failureOf(bed.get())).toMatchObject({ reason: 'Unreachable' });
      expect(bed.app.requests).toHaveLength(length);
      await bed.clock.advance(1);
    }
    bed.fault = undefined;
    expect(await bed.get()).toMatch(/^ghs_/);
  });

  it('wait as long as the host asks, and tell why there is no answer', async () => {
    const bed = createBed();
    bed.fault = { status: 429, headers: { 'retry-after': '600' }, body: '' };
    expect(await failureOf(bed.get())).toMatchObject({ reason: 'RateLimited', retryAfterSeconds: 600 });
    bed.fault = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    await bed.clock.advance(599_000);
    expect(await failureOf(bed.get())).toMatchObject({ reason: 'RateLimited' });
    await bed.clock.advance(62_000);
    expect(await failureOf(bed.get())).toMatchObject({ reason: 'Unreachable' });
  });

  it('stay in use until they end while the host issues no other', async () => {
    const bed = createBed();
    await bed.get();
    bed.fault = { status: 502, headers: {}, body: '' };
    await bed.clock.advance(57 * MINUTE_MS);
    expect([await bed.get(), await bed.get()]).toEqual(['ghs_1234_1', 'ghs_1234_1']);
    await bed.clock.advance(3 * MINUTE_MS);
    expect(await failureOf(bed.get())).toMatchObject({ reason: 'Unreachable' });
  });

  it('are replaced when the host refuses one that it accepted before', async () => {
    const { get, tokens, clock } = createBed();
    const first = await get();
    await clock.advance(MINUTE_MS);
    expect(tokens.refused(first)).toBe(true);
    expect(await get()).toBe('ghs_1234_2');
    expect(tokens.refused(first)).toBe(false);
    expect(await get()).toBe('ghs_1234_2');
  });

  it('are kept when the host refuses a fresh one, which another would not change', async () => {
    const { get, tokens, clock, app } = createBed();
    const first = await get();
    await clock.advance(MINUTE_MS - 1);
    expect(tokens.refused(first)).toBe(false);
    expect(await get()).toBe(first);
    expect(app.requests).toHaveLength(1);
  });

  it('leave a token of a Secret as it is', async () => {
    const { tokens, app } = createBed();
    const target = { project: PROJECT, credential: { type: 'Token', token: 'ghp_1234' } as const };
    expect(await tokens.get(target, signal)).toBe('ghp_1234');
    expect(tokens.refused('ghp_1234')).toBe(false);
    expect(app.requests).toEqual([]);
  });

  it('are not asked for by a caller that has ended', async () => {
    const { tokens, target, app } = createBed();
    await expect(tokens.get(target, AbortSignal.abort(new Error('closed')))).rejects.toThrow('closed');
    expect(app.requests).toEqual([]);
  });
});
