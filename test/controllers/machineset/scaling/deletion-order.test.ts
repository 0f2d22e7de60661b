import { describe, expect, it } from 'vitest';
import type { MachineHold, MachineSet } from '../../../../src/api/generated/types.ts';
import { memberOf, type SetMachine } from '../../../../src/controllers/machineset/members.ts';
import { inDeletionOrder } from '../../../../src/controllers/machineset/scaling/deletion-order.ts';
import { ago, type MachineParts, NOW } from '../../../support/builders.ts';
import { explainPlan, machineSet, member, members, NO_STORM } from '../../../support/machine-sets.ts';

type DeletionPolicy = MachineSet['spec']['deletionOrder'];

interface DeletionRank {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: MachineParts['spec'];
  readonly status?: MachineParts['status'];
  readonly because: string;
}

/** What a machine has that makes it go first; each one decides before those below it. */
const RANKS: readonly DeletionRank[] = [
  {
    name: 'the delete annotation',
    annotations: { 'kubenode.dev/delete': '' },
    because: 'annotation kubenode.dev/delete',
  },
  {
    name: 'a lower priority',
    annotations: { 'kubenode.dev/deletion-priority': '-1' },
    because: 'deletion priority -1',
  },
  { name: 'no instance', status: { node: {} }, because: 'no instance' },
  { name: 'a Ready that is not True', status: { conditions: [] }, because: 'not Ready' },
  { name: 'a spec that is not up to date', spec: { host: { type: 'systemd' } }, because: 'not up to date' },
];

const POLICIES: Readonly<Record<DeletionPolicy, string>> = {
  Oldest: 'the oldest first',
  Newest: 'the newest first',
  Random: 'by its hash',
};

/** One surplus machine, unless `replicas` are less; no storm, however ill the machines are. */
function shrinking(deletionOrder: DeletionPolicy, replicas = 1): MachineSet {
  return machineSet(replicas, { spec: { deletionOrder, stormGuard: NO_STORM } });
}

/** A Ready machine with all that the ranks say; #0 is older than #1. */
function ranked(set: MachineSet, index: number, ranks: readonly DeletionRank[]): SetMachine {
  const parts = ranks.reduce<Required<MachineParts>>(
    ({ metadata, spec, status }, rank) => ({
      metadata: { annotations: { ...metadata.annotations, ...rank.annotations } },
      spec: { ...spec, ...rank.spec },
      status: { ...status, ...rank.status },
    }),
    { metadata: {}, spec: {}, status: {} },
  );
  return member(set, { word: 'ready', index, age: 10 - index }, parts);
}

function surplusText(index: number, because: string): string {
  return `Delete #${index}: 2 machines exist, 1 are desired: ${because}`;
}

/** Each two ranks, the one that decides first. */
const PAIRS = RANKS.flatMap((first, index) => RANKS.slice(index + 1).map((second) => ({ first, second })));

const BY_POLICY = (Object.keys(POLICIES) as DeletionPolicy[]).flatMap((policy) =>
  RANKS.map((rank) => ({ policy, rank })),
);

const TIES = RANKS.map((rank, index) => ({
  shared: RANKS.slice(0, index + 1),
  below: RANKS[index + 1],
  name: rank.name,
  next: RANKS[index + 1]?.name ?? 'the policy',
}));

const annotated = (key: string, value = ''): MachineParts => ({
  metadata: { annotations: { [`kubenode.dev/${key}`]: value } },
});

describe('inDeletionOrder', () => {
  it.each<[name: string, order: DeletionPolicy, first: MachineParts, want: string]>([
    [
      'MAC-31 takes the marked one before all others',
      'Newest',
      annotated('delete'),
      '#0: annotation kubenode.dev/delete',
    ],
    [
      'MAC-31 takes a lower priority before an older one',
      'Newest',
      annotated('deletion-priority', '-5'),
      '#0: deletion priority -5',
    ],
    [
      'MAC-31 spares a higher priority',
      'Oldest',
      annotated('deletion-priority', '5'),
      '#1: the oldest first',
    ],
    [
      'MAC-31 ignores a priority that is not a number',
      'Newest',
      annotated('deletion-priority', 'high'),
      '#2: the newest first',
    ],
    [
      'MAC-31 takes one that is not Ready before the newest',
      'Newest',
      { status: { conditions: [] } },
      '#0: not Ready',
    ],
    [
      'MAC-31 takes one that differs from the template',
      'Newest',
      { spec: { host: { type: 'systemd' } } },
      '#0: not up to date',
    ],
    [
      'MAC-31 reads a priority with its sign',
      'Oldest',
      annotated('deletion-priority', '+1'),
      '#1: the oldest first',
    ],
    [
      'MAC-31 ignores a priority with a fraction',
      'Newest',
      annotated('deletion-priority', '-1.5'),
      '#2: the newest first',
    ],
    [
      'MAC-31 ignores a priority that is too long for an integer',
      'Newest',
      annotated('deletion-priority', '-1234567890'),
      '#2: the newest first',
    ],
    ['MAC-31 takes the oldest one first', 'Oldest', {}, '#0: the oldest first'],
    ['MAC-31 takes the newest one first', 'Newest', {}, '#2: the newest first'],
  ])('%s', (_, deletionOrder, first, want) => {
    const set = machineSet(2, { spec: { deletionOrder } });
    const [, ...others] = members(set, 'ready ready ready');
    const changed = member(set, { word: 'ready', index: 0, age: 3 }, first);
    expect(explainPlan(set, [changed, ...others])).toBe(
      `Delete ${want.replace(': ', ': 3 machines exist, 2 are desired: ')}`,
    );
  });

  describe('two ranks that disagree', () => {
    it.each(PAIRS)(
      'MAC-31 keeps the order of each two ranks: $first.name, then $second.name',
      ({ first, second }) => {
        const set = shrinking('Oldest');
        // Also its age speaks for the other one.
        const machines = [ranked(set, 0, [second]), ranked(set, 1, [first])];
        expect(explainPlan(set, machines)).toBe(surplusText(1, first.because));
      },
    );

    it.each(BY_POLICY)(
      'MAC-31 keeps the policy for the end: $rank.name, then $policy',
      ({ policy, rank }) => {
        const set = shrinking(policy);
        const chosen = [0, 1].find(
          (index) =>
            explainPlan(set, [ranked(set, 0, []), ranked(set, 1, [])]) ===
            surplusText(index, POLICIES[policy]),
        );
        const other = chosen === 0 ? 1 : 0;
        const machines = [0, 1].map((index) => ranked(set, index, index === other ? [rank] : []));
        expect(chosen).toBeDefined();
        expect(explainPlan(set, machines)).toBe(surplusText(other, rank.because));
      },
    );
  });

  it.each(TIES)('MAC-31 lets the next rank decide between equals: $name, then $next', ({ shared, below }) => {
    const set = shrinking('Newest');
    const [because] = shared.map((rank) => rank.because);
    const deciding = below ? [below] : [];
    const machines = [ranked(set, 0, [...shared, ...deciding]), ranked(set, 1, shared)];
    // The newest is #1: it goes only where nothing else decides.
    expect(explainPlan(set, machines)).toBe(surplusText(below ? 0 : 1, because ?? ''));
  });

  it('MAC-31 compares priorities as numbers', () => {
    const set = shrinking('Oldest');
    const [ten, nine] = ['10', '9'].map((value, index) =>
      ranked(set, index, [
        { name: '', annotations: { 'kubenode.dev/deletion-priority': value }, because: '' },
      ]),
    );
    expect(ten && nine && explainPlan(set, [ten, nine])).toBe(surplusText(1, 'deletion priority 9'));
  });

  describe('held machines', () => {
    const hold: MachineHold = { reason: 'forensics', scope: 'Disruptive' };
    const wait = 'wait MachinesHeld Machine/#0: held machines are not deleted: #0 (forensics)';

    it.each([...RANKS, { name: 'the policy' }] as readonly DeletionRank[])(
      'MAC-31 are never chosen, and the set waits for them by name: $name',
      (rank) => {
        const [one, none] = [shrinking('Oldest'), shrinking('Oldest', 0)];
        const held = ranked(one, 0, [{ ...rank, spec: { ...rank.spec, hold } }]);
        const free = ranked(one, 1, []);
        expect(explainPlan(one, [held, free])).toBe(surplusText(1, 'the oldest first'));
        expect(explainPlan(none, [held, free])).toBe(
          `Delete #1: 2 machines exist, 0 are desired: the oldest first; ${wait}`,
        );
        expect(explainPlan(none, [held])).toBe(wait);
      },
    );

    it.each<[by: string, parts: DeletionRank]>([
      ['scope All', { name: '', spec: { hold: { ...hold, scope: 'All' } }, because: '' }],
      [
        'its annotation',
        {
          name: '',
          annotations: { 'kubenode.dev/hold': '2031-01-01T00:00:00Z; forensics', 'kubenode.dev/delete': '' },
          because: '',
        },
      ],
    ])('MAC-31 are never chosen, however they are held: %s', (_, rank) => {
      const set = shrinking('Oldest', 0);
      expect(explainPlan(set, [ranked(set, 0, [rank])])).toBe(wait);
    });

    it('MAC-31 are deleted like others once the hold has ended', () => {
      const set = shrinking('Oldest', 0);
      const ended = { name: '', spec: { hold: { ...hold, until: ago(1) } }, because: '' };
      expect(explainPlan(set, [ranked(set, 0, [ended])])).toBe(
        'Delete #0: 1 machines exist, 0 are desired: the oldest first',
      );
    });
  });

  it('MAC-31 gives each machine a place in the random order by its UID alone', () => {
    const set = shrinking('Random');
    const order = (indices: readonly number[]): readonly string[] =>
      inDeletionOrder(
        indices.map((index) => memberOf(set, ranked(set, index, []), NOW)),
        'Random',
      ).map(({ member: { name } }) => name);
    // By sha256 of the UID, whatever the release, the process, and the other machines.
    const all = ['8b265efb', '4df94b1a', '4c4a8ac0', 'a6689a99', '58474ef4', '60503039'];
    expect(order([0, 1, 2, 3, 4, 5])).toEqual(all.map((hash) => `general-${hash}`));
    const some = order([5, 3, 1]);
    expect(some).toEqual(order([0, 1, 2, 3, 4, 5]).filter((name) => some.includes(name)));
    expect(some).toHaveLength(3);
  });

  it('MAC-31 has a random order that is the same in every process', () => {
    const set = machineSet(1, { spec: { deletionOrder: 'Random' } });
    const all = members(set, 'ready '.repeat(12));
    expect(explainPlan(set, all.toReversed())).toBe(explainPlan(set, all));
    expect(explainPlan(set, all)).not.toBe(
      explainPlan(machineSet(1), all).replaceAll('the oldest first', 'by its hash'),
    );
  });
});
