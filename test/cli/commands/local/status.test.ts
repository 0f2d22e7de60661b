import { describe, expect, it } from 'vitest';
import { awaitReady } from '../../../../src/cli/commands/local/status.ts';
import type { LocalClusterStatus, ProcessReadiness } from '../../../../src/local/status.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

describe('awaitReady', () => {
  it.each<[string, readonly ProcessReadiness[], expected: ProcessReadiness, reads: number]>([
    ['the first status that is ready', ['NotReady', 'NotReady', 'Ready'], 'Ready', 3],
    ['at once a status in which a process has ended', ['Stopped', 'Ready'], 'Stopped', 1],
    ['the last status when the time is over', ['NotReady'], 'NotReady', 11],
  ])('resolves to %s', async (_, states, expected, reads) => {
    const clock = virtualClock();
    let count = 0;
    const read = async (): Promise<{ folder: string; clusters: LocalClusterStatus[] }> => {
      const state = states[Math.min(count, states.length - 1)] ?? 'Ready';
      count += 1;
      return { folder: '/fleet', clusters: [clusterIn(state)] };
    };
    const deadlineMs = clock.monotonicMs() + 5000;
    const done = awaitReady(read, { clock, everyMs: 500, deadlineMs });
    await clock.advance(6000);
    expect((await done).clusters.map(({ state }) => state)).toEqual([expected]);
    expect(count).toBe(reads);
  });
});

function clusterIn(state: ProcessReadiness): LocalClusterStatus {
  return { name: 'test', state, because: '', server: '', kubeconfig: '', processes: [] };
}
