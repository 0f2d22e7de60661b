import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import {
  countKinds,
  representativesFirst,
  uncountKinds,
} from '../../../../../src/controllers/componentset/rollout/choice/representatives.ts';
import { progressFromStatus } from '../../../../../src/controllers/componentset/status/progress.ts';
import { node } from '../../../../support/builders.ts';
import { appRevision, COMPLETED, inputOf, member, NEW, OLD, type StateParts } from '../rollout-input.ts';

function ofKind(name: string, kind: string, parts: StateParts = {}): MemberState {
  const found = node(name, 'True', { labels: { 'node.kubernetes.io/instance-type': kind } });
  return { ...member(name, parts), node: found };
}

/** `a1 b1 a2`: machines in this order, whose first letter is their kind. Capitals do not serve. */
function members(text: string): readonly MemberState[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((name) => ofKind(name, name.toLowerCase().slice(0, 1), { serves: name === name.toLowerCase() }));
}

function ordered(text: string, { started = '', preferUnhealthy = true } = {}): string {
  const found = representativesFirst(members(text), { preferUnhealthy, started: members(started) });
  return [...found].map(({ name }) => name).join(' ');
}

describe('representativesFirst', () => {
  it.each<[what: string, order: string, more: Parameters<typeof ordered>[1], expected: string]>([
    ['keeps the order of one kind', 'a1 a2 a3', {}, 'a1 a2 a3'],
    ['takes one of each kind first', 'a1 a2 b1 a3 c1 b2', {}, 'a1 b1 c1 a2 a3 b2'],
    ['needs none of a kind that the batch has started', 'a1 a2 b1 a3', { started: 'a9' }, 'b1 a1 a2 a3'],
    ['keeps those that do not serve first', 'A1 A2 B1 a3 b2 c1', {}, 'A1 B1 A2 c1 a3 b2'],
    ['mixes both where the set does not prefer them', 'a1 A2 B1', { preferUnhealthy: false }, 'a1 B1 A2'],
    ['takes none of none', '', {}, ''],
  ])('ROL-03 takes one machine of each kind first: %s', (_, order, more, expected) => {
    expect(ordered(order, more)).toBe(expected);
  });

  it('ROL-03 reads no further than the last kind once the kinds are counted', () => {
    const all = members('a1 b1 a2 b2');
    const kinds = countKinds(all);
    const found = representativesFirst(all, { preferUnhealthy: true, started: [], kinds });
    expect([...found].map(({ name }) => name)).toEqual(['a1', 'b1', 'a2', 'b2']);
    uncountKinds(kinds, members('a1 b1 b2'));
    expect([...kinds.values()]).toEqual([1]);
  });
});

const KIND = fc.constantFrom('a', 'b', 'c', 'd');

/** The machines that a first batch of this size starts, by the plan. */
function firstBatch(all: readonly MemberState[], size: number, version = '2'): readonly string[] {
  const revision = appRevision(version);
  const plan = planRollout(
    inputOf({
      members: all,
      desired: { revision, yanked: [] },
      progress: { updateRevision: revision.name, history: [COMPLETED] },
      rollout: { batches: [size], maxUnavailable: '100%' },
    }),
  );
  return plan.actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []));
}

describe('planRollout', () => {
  it('ROL-03 covers as many kinds as a batch has machines, or all of them', () => {
    const fleet = fc.array(KIND, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fleet, fc.integer({ min: 1, max: 8 }), (kinds, size) => {
        const all = kinds.map((kind, index) => ofKind(`m-${index}`, kind));
        const started = firstBatch(all, size).map((name) => kinds[Number(name.slice(2))]);
        expect(started).toHaveLength(Math.min(size, kinds.length));
        expect(new Set(started).size).toBe(Math.min(started.length, new Set(kinds).size));
      }),
    );
  });

  it('ROL-03 starts the same machines in every replica and after a restart, in whatever order it reads them', () => {
    const fleet = fc.array(KIND, { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(
        fleet,
        fc.integer({ min: 1, max: 8 }),
        fc.infiniteStream(fc.nat()),
        (kinds, size, random) => {
          const all = kinds.map((kind, index) => ofKind(`m-${index}`, kind));
          const replicas = [1, 2, 3].map(() =>
            structuredClone(all).toSorted(() => (random.next().value ?? 0) - (random.next().value ?? 0)),
          );
          const [first, ...others] = replicas.map((each) => firstBatch(each, size));
          expect(others).toEqual([first, first]);
        },
      ),
    );
  });

  it('ROL-03 begins with other machines of a kind for another revision', () => {
    const all = Array.from({ length: 20 }, (_, index) => ofKind(`m-${index}`, index % 2 === 0 ? 'a' : 'b'));
    const first = Array.from({ length: 12 }, (_, index) => firstBatch(all, 1, `${index + 2}`).join());
    expect(new Set(first).size).toBeGreaterThan(4);
  });

  it('ROL-03 starts the kinds that are missing when a batch fills up in several rounds', () => {
    const progress = progressFromStatus({
      conditions: [],
      updateRevision: NEW.name,
      batch: { index: 0, size: 2, total: 9, startedAt: '2030-01-01T00:00:00.000Z' },
      history: [{ revision: OLD.name, result: 'Completed' }],
    });
    const all = [
      ofKind('z-1', 'a', { at: NEW, batch: 0, step: 'InWork', holdsGrant: true }),
      ...['m-1', 'm-2', 'm-3', 'm-4'].map((name) => ofKind(name, 'a')),
      ofKind('m-5', 'b'),
    ];
    const { actions } = planRollout(inputOf({ members: all, progress, rollout: { maxUnavailable: 2 } }));
    expect(actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []))).toEqual([
      'm-5',
    ]);
  });
});
