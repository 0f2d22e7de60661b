import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DrainAction, DrainBlocker } from '../../../src/kube/drain/plan.ts';
import { drainProgress, drainState, type PreviousDrain } from '../../../src/kube/drain/progress.ts';
import { NOW } from '../../support/builders.ts';
import { drainPod } from '../../support/kube/drain-bed.ts';

const BUDGET = 'PodDisruptionBudget';
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

const evict = (name: string): DrainAction => ({ type: 'Evict', pod: drainPod(name), because: '' });
const terminating = (name: string): DrainAction => ({
  type: 'Wait',
  pod: drainPod(name),
  reason: 'Terminating',
  because: 'soon',
});
const skip = (reason: 'DaemonSet' | 'DeadNode'): DrainAction => ({
  type: 'Skip',
  pod: drainPod('s'),
  reason,
  because: '',
});

function blocked(
  name: string,
  names: readonly string[],
  { kind = BUDGET, since = NOW }: Partial<DrainBlocker> = {},
): DrainAction {
  const blocker = { kind, names, since };
  return { type: 'Wait', pod: drainPod(name), reason: 'Budget', because: 'none allowed', blocker };
}

const before = (total: number, evicted: number): PreviousDrain => ({ total, evicted, blockedBy: [] });

describe('drainProgress', () => {
  it.each<
    [name: string, actions: readonly DrainAction[], previous: PreviousDrain | undefined, counts: unknown]
  >([
    ['counts what is pending', [evict('a'), terminating('b'), skip('DaemonSet')], undefined, [2, 0, 2]],
    ['counts what has left since', [evict('a')], before(5, 2), [5, 4, 1]],
    ['adds new pods to the total', [evict('a'), evict('b'), evict('c'), evict('d')], before(3, 2), [6, 2, 4]],
    ['ends with all evicted', [skip('DaemonSet')], before(5, 4), [5, 5, 0]],
    ['does not count the pods of a dead node as evicted', [skip('DeadNode')], before(3, 2), [2, 2, 0]],
    ['counts nothing on an empty node', [], undefined, [0, 0, 0]],
  ])('%s', (_, actions, previous, counts) => {
    const { total, evicted, pending } = drainProgress(actions, previous);
    expect([total, evicted, pending]).toEqual(counts);
  });

  it('names each budget once, with its oldest wait', () => {
    const { blockedBy, blocks } = drainProgress([
      blocked('a', ['shop/z']),
      blocked('b', ['shop/b'], { since: at(-10) }),
      blocked('c', ['shop/b'], { since: at(-60) }),
    ]);
    expect(blockedBy).toEqual(['shop/b', 'shop/z']);
    expect(blocks).toEqual([
      { kind: BUDGET, name: 'shop/b', since: at(-60), pods: 2, because: 'none allowed' },
      { kind: BUDGET, name: 'shop/z', since: NOW, pods: 1, because: 'none allowed' },
    ]);
  });

  it('keeps a pod apart from a budget of the same name', () => {
    const { blockedBy, blocks } = drainProgress([
      blocked('a', ['shop/a']),
      blocked('a', ['shop/a'], { kind: 'Pod' }),
    ]);
    expect(blockedBy).toEqual(['shop/a']);
    expect(blocks.map(({ kind }) => kind)).toEqual(['Pod', BUDGET]);
  });

  it('names at most 8, sorted', () => {
    const actions = ['9', '8', '7', '6', '5', '4', '3', '2', '1'].map((n) => blocked(n, [`shop/${n}`]));
    const { blockedBy, message } = drainProgress(actions);
    expect(blockedBy).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'].map((n) => `shop/${n}`));
    expect(message).toContain('; 1 more');
  });

  it.each<[name: string, actions: readonly DrainAction[], message: string]>([
    ['no pod is left', [skip('DaemonSet')], 'no pods left to evict'],
    [
      'the node is dead',
      [skip('DeadNode'), skip('DeadNode')],
      '2 pods are left: the kubelet does not answer, so that they cannot end',
    ],
    [
      'budgets and a pod block',
      [blocked('a', ['shop/b']), blocked('c', ['shop/c'], { kind: 'Pod' }), terminating('d')],
      '3 pods left: 1 wait for PodDisruptionBudget shop/b since 2030-01-01T12:00:00.000Z (none allowed); ' +
        'Pod shop/c waits since 2030-01-01T12:00:00.000Z (none allowed); 1 Terminating (shop/d)',
    ],
    [
      'pods terminate, and others are next',
      [evict('a'), ...['b', 'c', 'd', 'e'].map(terminating)],
      '5 pods left: 4 Terminating (shop/b, shop/c, shop/d, …); 1 not asked for yet (shop/a)',
    ],
  ])('explains that %s', (_, actions, message) => {
    expect(drainProgress(actions).message).toBe(message);
  });

  it('always adds up, and never takes an evicted pod back', () => {
    const action = fc.constantFrom(evict('a'), terminating('b'), skip('DaemonSet'), skip('DeadNode'));
    const steps = fc.array(fc.array(action, { maxLength: 6 }), { maxLength: 8 });
    fc.assert(
      fc.property(steps, (all) => {
        let previous: PreviousDrain | undefined;
        for (const actions of all) {
          const progress = drainProgress(actions, previous);
          expect(progress.total).toBe(progress.evicted + progress.pending);
          expect(progress.evicted).toBeGreaterThanOrEqual(previous?.evicted ?? 0);
          previous = progress;
        }
      }),
    );
  });
});

describe('drainState', () => {
  it.each([
    ['Draining', [evict('a')], true],
    ['Draining', [terminating('a'), skip('DeadNode')], true],
    ['Drained', [skip('DaemonSet')], true],
    ['Drained', [], true],
    ['Skipped', [skip('DeadNode'), skip('DaemonSet')], true],
    ['NotCordoned', [], false],
    ['NotCordoned', [terminating('a')], false],
  ] as const)('is %s', (state, actions, isCordoned) => {
    expect(drainState(actions, isCordoned)).toBe(state);
  });
});
