import { expect, it } from 'vitest';
import { createHeartbeat } from '../../../src/agent/run/heartbeat.ts';
import { HEARTBEAT_MS } from '../../../src/api/machine/heartbeat.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

const MACHINE = { name: 'n1', uid: 'uid-1' };

it('beats when it is due, one write at a time, and logs each outage once', async () => {
  const clock = virtualClock();
  const log = memoryLog();
  const calls: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const api = {
    heartbeat: () => new Promise<void>((resolve, reject) => void calls.push({ resolve, reject })),
  };
  const heartbeat = createHeartbeat({ api, clock, log, slackMs: 300 });
  heartbeat.beat(MACHINE);
  heartbeat.beat(MACHINE);
  expect(calls).toHaveLength(1);
  await clock.advance(HEARTBEAT_MS);
  heartbeat.beat(MACHINE);
  expect(calls).toHaveLength(1);
  expect(heartbeat.hasBeenWritten()).toBe(false);

  calls[0]?.resolve();
  await settle();
  expect(heartbeat.hasBeenWritten()).toBe(true);
  for (const failed of [1, 2]) {
    await clock.advance(HEARTBEAT_MS - 300);
    heartbeat.beat(MACHINE);
    expect(calls).toHaveLength(failed + 1);
    calls[failed]?.reject(new Error('no route'));
    await settle();
  }
  await clock.advance(HEARTBEAT_MS - 301);
  heartbeat.beat(MACHINE);
  expect(calls).toHaveLength(3);
  expect(log.lines.filter(({ message }) => message === 'heartbeat not written')).toHaveLength(1);
});
