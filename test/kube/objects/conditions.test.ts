import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Condition,
  type ConditionUpdate,
  conditionStatus,
  withCondition,
  withConditions,
} from '../../../src/kube/objects/conditions.ts';

const T1 = new Date('2030-01-01T12:00:00.123Z');
const T2 = new Date('2030-01-01T13:00:00Z');
const FIRST = '2030-01-01T12:00:00Z';
const SECOND = '2030-01-01T13:00:00Z';

const ready: ConditionUpdate = { type: 'Ready', status: 'True', reason: 'AllUp', message: 'three of three' };

describe('withCondition', () => {
  it.each<[name: string, change: Partial<ConditionUpdate>, since: string]>([
    ['keeps the transition time when only the message is new', { message: 'four of four' }, FIRST],
    ['keeps the transition time when only the reason is new', { reason: 'AllWell' }, FIRST],
    ['keeps the transition time when only the generation is new', { observedGeneration: 7 }, FIRST],
    ['changes the transition time when the status turns', { status: 'False', reason: 'Down' }, SECOND],
    ['changes the transition time when the status becomes Unknown', { status: 'Unknown' }, SECOND],
  ])('%s', (_, change, since) => {
    const before = withCondition(undefined, ready, T1);
    const after = withCondition(before, { ...ready, ...change }, T2);
    expect(after).toEqual([{ ...ready, ...change, lastTransitionTime: since }]);
  });

  it('returns the same list when nothing changes', () => {
    const before = withConditions(undefined, [ready, { ...ready, type: 'Synced' }], T1);
    expect(withCondition(before, { ...ready }, T2)).toBe(before);
  });

  it('drops the generation when the update has none', () => {
    const before = withCondition([], { ...ready, observedGeneration: 3 }, T1);
    expect(withCondition(before, ready, T2)[0]).not.toHaveProperty('observedGeneration');
  });

  it('keeps other conditions and their order', () => {
    const others = ['A', 'Ready', 'B'].map((type) => ({ ...ready, type }));
    const before = withConditions([], others, T1);
    const after = withCondition(before, { ...ready, status: 'False' }, T2);
    expect(after.map(({ type, status }) => `${type} ${status}`)).toEqual(['A True', 'Ready False', 'B True']);
    expect(after[0]).toBe(before[0]);
  });

  it('cuts a message at 1024 code points, never within one', () => {
    const message = withCondition([], { ...ready, message: '😀'.repeat(2000) }, T1)[0]?.message;
    expect(message).toBe(`${'😀'.repeat(1023)}…`);
    const fits = '😀'.repeat(1024);
    expect(withCondition([], { ...ready, message: fits }, T1)[0]?.message).toBe(fits);
  });

  it.each(['', 'not ready', 'lower', 'With-Dash', `A${'a'.repeat(64)}`, 'Ünready'])(
    'refuses the reason %j',
    (reason) => {
      expect(() => withCondition([], { ...ready, reason }, T1)).toThrow(RangeError);
    },
  );

  it.each(['', 'two words', 'a/b/c', '-x', 'x'.repeat(64)])('rejects the type %j', (type) => {
    expect(() => withCondition([], { ...ready, type }, T1)).toThrow(RangeError);
  });

  it.each(['Ready', 'kubenode.dev/Ready', 'a'.repeat(63)])('accepts the type %j', (type) => {
    expect(withCondition([], { ...ready, type }, T1)).toHaveLength(1);
  });

  it('keeps one condition per type with its last transition, for any sequence of updates', () => {
    const anyStatus = fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const);
    const anySaying = fc.record({ type: fc.constantFrom('A', 'B', 'C'), status: anyStatus });
    fc.assert(
      fc.property(fc.array(anySaying, { maxLength: 30 }), (sayings) => {
        let conditions: readonly Condition[] = [];
        const turns = new Map<string, { status: string; at: string }>();
        for (const [minute, { type, status }] of sayings.entries()) {
          const now = new Date(Date.UTC(2030, 0, 1, 0, minute));
          if (turns.get(type)?.status !== status) {
            turns.set(type, { status, at: now.toISOString().replace('.000', '') });
          }
          conditions = withCondition(conditions, { ...ready, type, status }, now);
        }
        expect(Object.fromEntries(conditions.map((c) => [c.type, c.lastTransitionTime]))).toEqual(
          Object.fromEntries([...turns].map(([type, { at }]) => [type, at])),
        );
        expect(conditions).toHaveLength(turns.size);
      }),
    );
  });
});

describe('conditionStatus', () => {
  const conditions: Condition[] = [
    { ...ready, observedGeneration: 3, lastTransitionTime: FIRST },
    { ...ready, type: 'Plain', status: 'False', lastTransitionTime: FIRST },
  ];
  it.each<[name: string, type: string, generation: number | undefined, want: string]>([
    ['reads the status', 'Ready', undefined, 'True'],
    ['reads a missing condition as Unknown', 'Synced', undefined, 'Unknown'],
    ['reads a condition of this generation', 'Ready', 3, 'True'],
    ['reads a condition of an older generation as Unknown', 'Ready', 4, 'Unknown'],
    ['reads a condition without a generation', 'Plain', 4, 'False'],
  ])('%s', (_, type, generation, want) => {
    expect(conditionStatus(conditions, type, generation)).toBe(want);
  });

  it('reads a missing list as Unknown', () => {
    expect(conditionStatus(undefined, 'Ready')).toBe('Unknown');
  });
});
