import { describe, expect, it } from 'vitest';
import { awaitReady } from '../../../../src/cli/commands/local/status.ts';
import type { LocalClusterStatus, ProcessReadiness } from '../../../../src/local/status.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

type Looks = readonly (readonly ProcessReadiness[])[];

describe('awaitReady', () => {
  it.each<[name: string, looks: Looks, reads: number, steps: number]>([
    [
      'when all are ready',
      [
        ['NotReady', 'Ready'],
        ['Ready', 'NotReady'],
        ['Ready', 'Ready'],
      ],
      3,
      2,
    ],
    ['at once when a process has ended, though others are late', [['Stopped', 'NotReady']], 1, 0],
    ['at once when there is no cluster', [[]], 1, 0],
    ['when the time is over', [['Ready', 'NotReady']], 11, 11],
  ])('resolves %s', async (_, looks, reads, steps) => {
    const clock = virtualClock();
    let count = 0;
    const shown: string[] = [];
    const done = awaitReady({
      read: async () => {
        const states = looks[Math.min(count, looks.length - 1)] ?? [];
        count += 1;
        return { folder: '/fleet', clusters: states.map(clusterIn) };
      },
      onStep: (step) => void shown.push(step),
      clock,
      everyMs: 500,
      deadlineMs: clock.monotonicMs() + 5000,
    });
    await clock.advance(6000);
    await done;
    expect([count, shown.length]).toEqual([reads, steps]);
  });

  it('names the clusters that are late, and why', async () => {
    const clock = virtualClock();
    const shown: string[] = [];
    await awaitReady({
      read: async () => ({ folder: '/fleet', clusters: [clusterIn('Ready', 0), clusterIn('NotReady', 1)] }),
      onStep: (step) => void shown.push(step),
      clock,
      everyMs: 500,
      deadlineMs: clock.monotonicMs(),
    });
    expect(shown).toEqual(['waiting for c1: etcd is not ready']);
  });
});

function clusterIn(state: ProcessReadiness, index: number): LocalClusterStatus {
  return {
    name: `c${index}`,
    state,
    because: 'etcd is not ready',
    server: '',
    kubeconfig: '',
    processes: [],
  };
}
