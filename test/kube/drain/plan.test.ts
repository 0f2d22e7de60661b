import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EvictionAnswer } from '../../../src/kube/drain/answers.ts';
import { type DrainInput, planDrain } from '../../../src/kube/drain/plan.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, NOW } from '../../support/builders.ts';
import { drainInput, drainPod } from '../../support/kube/drain-bed.ts';

const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

function refused(change: Partial<Extract<EvictionAnswer, { kind: 'Refused' }>> = {}): EvictionAnswer {
  return {
    kind: 'Refused',
    reason: 'Budget',
    because: 'b allows none',
    budgets: ['shop/b'],
    since: at(-30),
    askAt: at(10),
    refusals: 2,
    ...change,
  };
}

const accepted = (seconds: number): EvictionAnswer => ({ kind: 'Accepted', at: at(seconds) });

/** `Evict`, `Wait Budget: because`, `Skip DaemonSet: because` */
function explain(pod: KubeObject, change: Partial<DrainInput> = {}): string {
  return planDrain(drainInput({ pods: [pod], ...change }))
    .map((action) =>
      action.type === 'Evict' ? 'Evict' : `${action.type} ${action.reason}: ${action.because}`,
    )
    .join(', ');
}

const answered = (answer: EvictionAnswer, uid = 'uid-a'): Partial<DrainInput> => ({
  answers: new Map([[uid, answer]]),
});

describe('planDrain', () => {
  it.each<[name: string, pod: KubeObject, change: Partial<DrainInput>, explanation: string]>([
    ['evicts a pod', drainPod('a'), {}, 'Evict'],
    ['leaves a completed pod', drainPod('a', { phase: 'Failed' }), {}, 'Skip Completed: it has completed'],
    ['never evicts a pod of another node', drainPod('a', { nodeName: 'n2' }), {}, ''],
    [
      'never evicts from a node that is not cordoned',
      drainPod('a'),
      { isCordoned: false },
      'Wait NotCordoned: the node is not cordoned',
    ],
    [
      'never evicts from a dead node',
      drainPod('a'),
      { kubeletAnswers: false },
      'Wait KubeletSilent: the kubelet does not answer',
    ],
    [
      'skips a dead node when asked to',
      drainPod('a'),
      { kubeletAnswers: false, options: { deadNode: 'Skip' } },
      'Skip DeadNode: the kubelet does not answer, so that it cannot end',
    ],
    [
      'waits for a pod that terminates',
      drainPod('a', { deletionTimestamp: ago(59) }),
      {},
      `Wait Terminating: it has to end by ${ago(59)}`,
    ],
    [
      'reports a pod that does not end in time',
      drainPod('a', { deletionTimestamp: ago(60) }),
      {},
      `Wait Overdue: it had to end by ${ago(60)}: check its finalizers and the kubelet`,
    ],
    [
      'does not evict twice what a list does not show yet',
      drainPod('a'),
      answered(accepted(-59)),
      'Wait Terminating: its eviction was accepted',
    ],
    ['evicts again when something undid the eviction', drainPod('a'), answered(accepted(-60)), 'Evict'],
    ['waits for a budget', drainPod('a'), answered(refused()), 'Wait Budget: b allows none'],
    ['asks again when it is time', drainPod('a'), answered(refused({ askAt: NOW })), 'Evict'],
    [
      'takes a pod with the same name and another UID as a new pod',
      drainPod('a', { uid: 'uid-new' }),
      answered(refused()),
      'Evict',
    ],
    [
      'waits for a pod that terminates, although it was refused before',
      drainPod('a', { deletionTimestamp: ago(-5) }),
      answered(refused()),
      `Wait Terminating: it has to end by ${ago(-5)}`,
    ],
  ])('%s', (_, pod, change, explanation) => {
    expect(explain(pod, change)).toBe(explanation);
  });

  it.each([
    ['Budget', { kind: 'PodDisruptionBudget', names: ['shop/b'], since: at(-30) }],
    ['SeveralBudgets', { kind: 'PodDisruptionBudget', names: ['shop/b'], since: at(-30) }],
    ['Denied', { kind: 'Pod', names: ['shop/a'], since: at(-30) }],
    ['Changed', undefined],
    ['Overloaded', undefined],
  ] as const)('names what blocks a pod that is refused as %s', (reason, blocker) => {
    const budgets = reason.includes('Budget') ? ['shop/b'] : [];
    const [action] = planDrain(
      drainInput({ pods: [drainPod('a')], ...answered(refused({ reason, budgets })) }),
    );
    expect(action?.type === 'Wait' && action.blocker).toEqual(blocker);
    expect(action).toMatchObject({ type: 'Wait', reason, askAt: at(10) });
  });

  it('names the pod when no budget is known', () => {
    const [action] = planDrain(drainInput({ pods: [drainPod('a')], ...answered(refused({ budgets: [] })) }));
    expect(action).toMatchObject({ blocker: { kind: 'Pod', names: ['shop/a'] } });
  });

  it('names a pod that does not end, since its grace period ended', () => {
    const [action] = planDrain(drainInput({ pods: [drainPod('a', { deletionTimestamp: ago(90) })] }));
    expect(action).toMatchObject({ blocker: { kind: 'Pod', names: ['shop/a'], since: at(-90) } });
  });

  it('evicts pods with a lower priority first, then by name', () => {
    const pods = [
      ['d', 2],
      ['b', undefined],
      ['c', -1],
      ['a', 2],
    ] as const;
    const input = pods.map(([name, priority]) => ({ ...drainPod(name), spec: { nodeName: 'n1', priority } }));
    const order = planDrain(drainInput({ pods: input })).map(({ pod }) => pod.metadata.name);
    expect(order).toEqual(['c', 'b', 'a', 'd']);
  });

  it('refuses to plan for a pod without a UID', () => {
    expect(() => planDrain(drainInput({ pods: [drainPod('a', { uid: '' })] }))).toThrow('its uid is missing');
  });
});

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const pods = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...NAMES),
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded'),
    isTerminating: fc.boolean(),
    nodeName: fc.constantFrom('n1', 'n1', 'n2'),
  }),
  { selector: ({ name }) => name },
);
const answers = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(...NAMES.map((name) => `uid-${name}`)),
    fc.oneof(
      fc.integer({ min: -120, max: 0 }).map(accepted),
      fc.integer({ min: -60, max: 60 }).map((seconds) => refused({ askAt: at(seconds) })),
    ),
  ),
  { selector: ([uid]) => uid },
);

it('R35 never evicts a pod that terminates, was just accepted, has to wait or is of another node, in any order', () => {
  fc.assert(
    fc.property(pods, answers, fc.boolean(), fc.boolean(), (parts, known, isCordoned, kubeletAnswers) => {
      const objects = parts.map(({ name, phase, isTerminating, nodeName }) =>
        drainPod(name, { phase, nodeName, ...(isTerminating ? { deletionTimestamp: ago(0) } : {}) }),
      );
      const input = drainInput({ pods: objects, answers: new Map(known), isCordoned, kubeletAnswers });
      const actions = planDrain(input);
      expect(planDrain({ ...input, pods: objects.toReversed() })).toEqual(actions);
      for (const { pod } of actions.filter((action) => action.type === 'Evict')) {
        const answer = input.answers.get(pod.metadata.uid ?? '');
        expect(isCordoned && kubeletAnswers).toBe(true);
        expect(pod.metadata.deletionTimestamp).toBeUndefined();
        expect(pod).toMatchObject({ spec: { nodeName: 'n1' } });
        expect(answer?.kind === 'Refused' && answer.askAt > NOW).toBe(false);
        expect(answer?.kind === 'Accepted' && answer.at > at(-60)).toBe(false);
      }
    }),
  );
});
