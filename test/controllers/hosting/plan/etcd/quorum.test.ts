import { describe, expect, it } from 'vitest';
import { ETCD_MEMBERS, type PlaneReport } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  isEtcdServing,
  joinWait,
  learningWait,
  majorityOf,
  quorumWait,
  replacementWait,
} from '../../../../../src/controllers/hosting/plan/etcd/quorum.ts';
import { type SeveralParts, severalMembers } from '../../../../support/hosting/etcd.ts';
import { hostingInput, type InputParts, members } from '../../../../support/hosting/objects.ts';

const DOWN = { state: 'Stopped' } as const;
const EMPTY = { ...DOWN, data: 'Empty' } as const;
const FAULTS: readonly (readonly [name: string, parts: SeveralParts])[] = [
  ['is stopped', { but: { 'etcd-1': DOWN } }],
  ['starts', { but: { 'etcd-1': { state: 'Starting' } } }],
  ['has lost its data', { but: { 'etcd-1': { data: 'Empty' } } }],
  ['has the data of others', { but: { 'etcd-1': { data: 'Other' } } }],
  ['has data that are not known', { but: { 'etcd-1': { data: undefined } } }],
  ['is a learner', { list: { 'etcd-1': 'Learner' } }],
  ['is not listed', { list: { 'etcd-1': 'NotListed' } }],
];

function input(parts: SeveralParts, plane: Partial<PlaneReport> = {}): ReturnType<typeof hostingInput> {
  return hostingInput({ plane: { ...severalMembers(parts), ...plane } } satisfies InputParts);
}

describe('the quorum guard', () => {
  it.each([3, 5] as const)('HOS-30 permits an act on each of %d healthy members', (count) => {
    for (const member of ETCD_MEMBERS.slice(0, count)) {
      expect(quorumWait(input({ count }), member)).toBeUndefined();
    }
  });

  it.each(FAULTS)(
    'HOS-30 permits an act on the member that %s, and on no other one of three or five',
    (_, parts) => {
      for (const count of [3, 5] as const) {
        const found = ETCD_MEMBERS.slice(0, count).filter(
          (member) => !quorumWait(input({ count, ...parts }), member),
        );
        expect(found).toEqual(['etcd-1']);
      }
    },
  );

  it('HOS-30 permits no act on etcd while no majority lists the members, or one is of others', () => {
    for (const member of ETCD_MEMBERS.slice(0, 3)) {
      expect(quorumWait(input({}, { etcd: undefined }), member)).toMatchObject({
        reason: 'QuorumAtRisk',
        isStalled: false,
      });
      const foreign = { member: undefined, isLearner: false, isStarted: true };
      const etcd = [...(severalMembers().etcd ?? []), foreign];
      expect(quorumWait(input({}, { etcd }), member)).toMatchObject({
        reason: 'EtcdMemberNotOurs',
        isStalled: true,
        message: expect.stringContaining('etcdctl member remove') as string,
      });
    }
  });

  it('HOS-30 permits no act on a second member of five while one is down, although three would be a majority', () => {
    const down = input({ count: 5, but: { 'etcd-4': DOWN } });
    expect(quorumWait(down, 'etcd')?.message).toBe(
      'etcd-4 does not answer: no other member of etcd is touched',
    );
  });

  it('holds up no other program, and no etcd that has one member', () => {
    const down = { but: { etcd: DOWN } };
    expect(quorumWait(input(down), 'kube-apiserver')).toBeUndefined();
    expect(quorumWait(hostingInput({ plane: { members: members({ etcd: DOWN }) } }), 'etcd')).toBeUndefined();
  });

  it.each<readonly [what: string, parts: SeveralParts, reason: string | undefined]>([
    ['the only one without data', { but: { 'etcd-4': EMPTY } }, undefined],
    ['another one without data', { but: { 'etcd-4': EMPTY, 'etcd-3': EMPTY } }, undefined],
    [
      'another one whose process still runs',
      { but: { 'etcd-4': EMPTY, 'etcd-3': { data: 'Empty' } } },
      undefined,
    ],
    [
      'another one that was removed',
      { but: { 'etcd-4': EMPTY, 'etcd-3': EMPTY }, list: { 'etcd-3': 'NotListed' } },
      undefined,
    ],
    [
      'another one that is down with its data',
      { but: { 'etcd-4': EMPTY, 'etcd-3': DOWN } },
      'etcd-3 does not answer: no other member of etcd is touched',
    ],
    [
      'one without data and one that learns',
      { but: { 'etcd-4': EMPTY, 'etcd-3': EMPTY }, list: { 'etcd-2': 'Learner' } },
      'etcd-2 still gets its data from the others: no other member of etcd is touched',
    ],
    [
      'two others without data',
      { but: { 'etcd-4': EMPTY, 'etcd-3': EMPTY, 'etcd-2': EMPTY } },
      '2 of 5 members of etcd have their data and answer: no other member of etcd is touched',
    ],
  ])('HOS-33 takes a member without data of five away beside %s, or names why not', (_, parts, reason) => {
    expect(replacementWait(input({ count: 5, ...parts }), 'etcd-4')?.message).toBe(reason);
  });

  it('HOS-33 takes no member without data away while no majority lists the members', () => {
    const unknown = input({ count: 5, but: { 'etcd-4': EMPTY } }, { etcd: undefined });
    expect(replacementWait(unknown, 'etcd-4')).toMatchObject({ reason: 'QuorumAtRisk' });
  });

  it('HOS-33 adds a member while those that are not in etcd yet are down, and not while one that is in it is', () => {
    const creating: SeveralParts = {
      but: { 'etcd-1': EMPTY, 'etcd-2': EMPTY },
      list: { 'etcd-1': 'NotListed', 'etcd-2': 'NotListed' },
    };
    expect(joinWait(input(creating), 'etcd-1')).toBeUndefined();
    const learning: SeveralParts = { ...creating, list: { 'etcd-1': 'New', 'etcd-2': 'NotListed' } };
    expect(joinWait(input(learning), 'etcd-2')?.message).toMatch(/^etcd-1 does not answer/);
    const removed = { but: { 'etcd-1': DOWN }, list: { 'etcd-1': 'NotListed' } } as const;
    expect(joinWait(input(removed), 'etcd-2')).toBeDefined();
  });

  it('waits for a learner also when every member answers', () => {
    expect(learningWait(input({}))).toBeUndefined();
    expect(learningWait(input({ list: { 'etcd-2': 'Learner' } }))?.blocker.name).toBe('etcd-2');
    expect(learningWait(hostingInput())).toBeUndefined();
  });
});

describe('whether etcd serves', () => {
  it.each([
    [1, 1],
    [3, 2],
    [5, 3],
  ])('%d members need %d', (count, expected) => expect(majorityOf(count)).toBe(expected));

  it('needs a majority of the members that answers', () => {
    const but = { etcd: DOWN, 'etcd-1': DOWN, 'etcd-2': DOWN };
    expect(isEtcdServing(input({ but: { etcd: DOWN } }))).toBe(true);
    expect(isEtcdServing(input({ but: { etcd: DOWN, 'etcd-2': DOWN } }))).toBe(false);
    expect(isEtcdServing(input({ count: 5, but: { etcd: DOWN, 'etcd-2': DOWN } }))).toBe(true);
    expect(isEtcdServing(input({ count: 5, but }))).toBe(false);
    expect(isEtcdServing({ plane: { ...hostingInput().plane, members: [] } })).toBe(false);
  });
});
