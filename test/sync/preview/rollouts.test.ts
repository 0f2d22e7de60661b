import { describe, expect, it } from 'vitest';
import { formatTargetRollouts, type PlannedRollout } from '../../../src/sync/preview/rollouts.ts';

const NONE = { count: 0, class: 'None', names: [] };

function rollout(parts: Partial<PlannedRollout> = {}): PlannedRollout {
  return {
    set: 'general',
    changes: ['kubelet-1.35.4 → kubelet-1.36.3'],
    selected: 8,
    batches: [
      { index: 0, count: 1, class: 'Drain', names: ['n1'] },
      { index: 1, count: 5, class: 'Drain', names: ['n2', 'n3', 'n4', 'n5', 'n6'] },
    ],
    more: { batches: 0, machines: 0 },
    joining: NONE,
    class: 'Drain',
    drains: 6,
    grants: 6,
    ...parts,
  };
}

function text(...sets: readonly PlannedRollout[]): string {
  return formatTargetRollouts({ state: 'Known', sets }).join('\n');
}

function linesOf(defender: PlannedRollout['defender']): readonly string[] {
  return text(rollout({ changes: [], batches: [], ...(defender && { defender }) }))
    .split('\n')
    .slice(1)
    .map((line) => line.slice('    defender  '.length));
}

describe('formatTargetRollouts', () => {
  it('ROL-60 shows machines, batches, classes, drains and what would block', () => {
    const wait = { reason: 'Paused', message: 'spec.paused is true' };
    const joining = { count: 2, class: 'None', names: ['n7', 'n8'] };
    expect(text(rollout({ joining, grants: 8, wait }))).toBe(
      `  rollout of general: 8 of 8 machines, Drain, 6 with a drain
    change    kubelet-1.35.4 → kubelet-1.36.3
    batch 1   1 machine, Drain: n1
    batch 2   5 machines, Drain: n2, n3, n4, n5, n6
    joining   2 machines, None: n7, n8
    waits     Paused: spec.paused is true`,
    );
  });

  it('shows a rollout that changes no machine, and the shortest and longest time of another one', () => {
    const idle = rollout({ set: 'idle', changes: [], batches: [], class: 'None', drains: 0, grants: 0 });
    const takes = { shortestSeconds: 600, longestSeconds: 600 + 3 * 3600 };
    const long = rollout({ drains: 0, class: 'Restart', takes });
    expect(
      text(idle, long)
        .replaceAll(/\n {14}/g, ' ')
        .split('\n'),
    ).toEqual(
      expect.arrayContaining([
        '  rollout of idle: none of 8 machines',
        '  rollout of general: 6 of 8 machines, Restart',
        '    takes     10 min of soaks at least, at most 3 h 10 min once it begins, if nothing fails or waits',
      ]),
    );
  });

  it.each<[number, number, string]>([
    [0, 90, 'at most 90 s once it begins, if nothing fails or waits'],
    [60, 3600, '60 s of soaks at least, at most 1 h once it begins, if nothing fails or waits'],
  ])('shows the time of a rollout with %i s of soaks', (shortestSeconds, longestSeconds, expected) => {
    const found = text(rollout({ takes: { shortestSeconds, longestSeconds } }));
    expect(found.replaceAll(/\n {14}/g, ' ')).toContain(`    takes     ${expected}`);
  });

  it('counts the batches and machines that are not listed', () => {
    const long = { index: 0, count: 21, class: 'Drain', names: ['n1', 'n2'] };
    const found = text(rollout({ batches: [long], more: { batches: 9, machines: 900 } }));
    expect(found).toContain('batch 1   21 machines, Drain: n1, n2 and 19 others\n');
    expect(found).toContain('then      9 batches of 900 machines');
  });

  it('fits 80 columns, with further lines below the text', () => {
    const names = Array.from({ length: 20 }, (_, index) => `machine-with-a-long-name-${index}`);
    const message = 'a reason that has to be broken into several lines because it is longer than one';
    const long = rollout({
      set: 's'.repeat(90),
      batches: [{ index: 0, count: 20, class: 'Drain', names }],
      wait: { reason: 'ServerVersionUnknown', message },
    });
    const lines = text(long).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    const second = lines.find((line) => line.startsWith('              machine-with'));
    expect(second).toBeDefined();
  });

  it('names why the machines are not known, and is empty where no set is concerned', () => {
    expect(formatTargetRollouts({ state: 'Unknown', because: 'nothing live is read: --no-live' })).toEqual([
      '  rollouts  not known: nothing live is read: --no-live',
    ]);
    expect(formatTargetRollouts(undefined)).toEqual([]);
  });

  it('ROL-60 shows what the Defender grants and denies now, or why that is not known', () => {
    const granted = { count: 1, names: ['n1'] };
    const until = '2030-01-01T12:00:00.000Z';
    const freeze = {
      reason: 'Freeze',
      message: 'frozen',
      until,
      unblock: 'wait',
      machines: { count: 3, names: ['n2', 'n3'] },
    };
    const held = {
      reason: 'HumanHold',
      message: 'n4 is held',
      unblock: 'kubenode machine release n4',
      machines: { count: 1, names: ['n4'] },
    };
    expect(linesOf({ state: 'Known', granted, denied: [held] })).toEqual([
      'grants now 1 machine: n1',
      'denies 1 machine: n4; HumanHold: n4 is held',
      'kubenode machine release n4',
    ]);
    expect(linesOf({ state: 'Known', granted: { count: 0, names: [] }, denied: [freeze] })).toEqual([
      `denies until ${until} 3 machines: n2, n3 and 1`,
      'others; Freeze: frozen',
      'wait',
    ]);
    expect(linesOf({ state: 'Unknown', because: 'pods is forbidden' })).toEqual([
      'not known: pods is forbidden',
    ]);
    expect(linesOf(undefined)).toEqual([]);
  });
});
