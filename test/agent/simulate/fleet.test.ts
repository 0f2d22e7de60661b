import { describe, expect, it } from 'vitest';
import { simulateFleet } from '../../../src/agent/simulate/fleet.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

async function away(): Promise<never> {
  throw new KubeError('Unreachable', 'the server does not answer');
}

describe('simulateFleet', () => {
  it('starts agents one after the other, each with its own connection, and closes them all', async () => {
    const clock = virtualClock();
    const connected: string[] = [];
    const closed: string[] = [];
    const stop = new AbortController();
    const connect = (machine: string): Client => {
      connected.push(machine);
      return {
        server: 'https://server',
        pages: () => ({ [Symbol.asyncIterator]: () => ({ next: away }) }),
        close: async () => void closed.push(machine),
      } as unknown as Client;
    };
    const machines = ['a', 'b', 'c'];
    const fleet = { machines, connect, startsPerSecond: 2, version: '0.0.1', clock, log: memoryLog() };
    const running = simulateFleet({ ...fleet, random: () => 0.5 }, stop.signal);
    await clock.advance(0);
    expect(connected).toEqual(['a']);
    await clock.advance(600);
    expect(connected).toEqual(['a', 'b']);
    stop.abort();
    await running;
    expect(connected).toEqual(['a', 'b']);
    expect(closed.toSorted()).toEqual(['a', 'b']);
  });
});
