import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { HookAnswer, HookRequest } from '../../../src/kube/webhook/request.ts';
import { createHookIntake } from '../../../src/sync/intake/intake.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { secretStore } from '../../support/secret-store.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { hookPipeline } from './hook-pipeline.ts';

const SECRET = '0123456789abcdef';
const MAIN = '{"ref":"refs/heads/main","after":"1"}';

function signed(text: string, changes: Partial<HookRequest> = {}, secret = SECRET): HookRequest {
  const signature = createHmac('sha256', secret).update(text).digest('hex');
  return {
    method: 'POST',
    path: '/hooks/fleet',
    headers: { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push' },
    readBody: async () => Buffer.from(text),
    ...changes,
  };
}

function bed(secrets = secretStore({ name: 'hook', use: 'git-webhook', data: { secret: SECRET } })): {
  readonly clock: ReturnType<typeof virtualClock>;
  /** The Pipelines whose repository is to be read. */
  readonly polls: string[];
  readonly hub: { isDown: boolean };
  readonly send: (request: HookRequest) => Promise<string>;
} {
  const log = memoryLog();
  const clock = virtualClock();
  const pipelines = createStore<ReturnType<typeof hookPipeline>>({ log });
  pipelines.put(hookPipeline());
  const { webhookSecretRef: _, ...source } = hookPipeline('silent').spec.source;
  pipelines.put({ ...hookPipeline('silent'), spec: { ...hookPipeline().spec, source } });
  const polls: string[] = [];
  const hub = { isDown: false };
  const requestPoll = async (name: string): Promise<void> => {
    if (hub.isDown) throw new Error('hub down');
    polls.push(name);
  };
  const intake = createHookIntake({ pipelines, secrets, requestPoll, clock, log });
  return { clock, polls, hub, send: async (request) => summary(await intake.handle(request)) };
}

function summary({ status, result }: HookAnswer): string {
  return `${status} ${result}`;
}

const unreadable = (): never => {
  throw new Error('the body was read');
};

describe('S25 a signed webhook, and no other,', () => {
  it('requests a poll of the Pipeline that the path names', async () => {
    const { polls, send } = bed();
    expect([await send(signed(MAIN)), polls]).toEqual(['202 Accepted', ['fleet']]);
  });

  it.each<[what: string, request: HookRequest, answer: string]>([
    ['an unknown Pipeline', signed(MAIN, { path: '/hooks/other', readBody: unreadable }), '404 Unknown'],
    [
      'a Pipeline without webhook',
      signed(MAIN, { path: '/hooks/silent', readBody: unreadable }),
      '404 Unknown',
    ],
    ['another path', signed(MAIN, { path: '/hooks/../fleet', readBody: unreadable }), '404 Unknown'],
    ['a path of no name', signed(MAIN, { path: '/hooks/', readBody: unreadable }), '404 Unknown'],
    ['GET', signed(MAIN, { method: 'GET', readBody: unreadable }), '405 Invalid'],
    ['no signature', signed(MAIN, { headers: {}, readBody: unreadable }), '401 Refused'],
    ['the signature of another secret', signed(MAIN, {}, 'another secret..'), '401 Refused'],
    ['a body that was not sent whole', signed(MAIN, { readBody: async () => undefined }), '413 Invalid'],
    ['another branch', signed('{"ref":"refs/heads/x"}'), '202 Ignored'],
  ])('requests no poll for %s', async (_, request, answer) => {
    const { polls, send } = bed();
    expect([await send(request), polls]).toEqual([answer, []]);
  });

  it('requests one poll for a delivery that is repeated within a minute, whatever id it has', async () => {
    const { clock, polls, send } = bed();
    expect(await send(signed(MAIN))).toBe('202 Accepted');
    const other = signed(MAIN);
    const replayed = { ...other, headers: { ...other.headers, 'x-github-delivery': 'another' } };
    expect(await send(replayed)).toBe('202 Repeated');
    await clock.advance(60_000);
    expect(await send(replayed)).toBe('202 Accepted');
    expect(polls).toHaveLength(2);
  });

  it('asks the git host to repeat a delivery while the hub does not answer', async () => {
    const { hub, polls, send } = bed();
    hub.isDown = true;
    expect(await send(signed(MAIN))).toBe('503 Unavailable');
    hub.isDown = false;
    expect([await send(signed(MAIN)), polls]).toEqual(['202 Accepted', ['fleet']]);
  });

  it('answers 503 without reading the body while the Secret cannot be used', async () => {
    const { polls, send } = bed(secretStore());
    expect(await send(signed(MAIN, { readBody: unreadable }))).toBe('503 Unavailable');
    expect(polls).toEqual([]);
  });

  it('verifies at most fifty requests a second, and none of them costs a poll', async () => {
    const { clock, polls, send } = bed();
    let read = 0;
    const forged = (n: number): HookRequest =>
      signed(`{"n":${n}}`, { readBody: async () => Buffer.from(String((read += 1))) }, 'a forged secret.');
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => send(forged(n))));
    expect([answers.filter((each) => each === '429 Limited').length, read]).toEqual([900, 100]);
    await clock.advance(1000);
    expect(await send(signed(MAIN))).toBe('202 Accepted');
    expect(polls).toEqual(['fleet']);
  });
});
