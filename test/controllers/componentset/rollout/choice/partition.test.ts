import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../../../src/api/generated/types.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import {
  type PartitionContext,
  partitionLimit,
} from '../../../../../src/controllers/componentset/rollout/choice/partition.ts';
import type { RolloutMode } from '../../../../../src/controllers/componentset/rollout/input.ts';
import { setWait } from '../../../../../src/controllers/componentset/status/wait.ts';
import { RolloutSimulation } from '../../simulation/rollout-simulation.ts';
import { COMPLETED, inputOf, member, NEW, OLD, progressOf } from '../rollout-input.ts';

const HOLD = { reason: 'debugging', scope: 'All' } as const;
const MIXED = [
  member('a', { at: NEW }),
  member('b'),
  member('c', { hold: HOLD }),
  member('d', { pinned: ['app'] }),
  member('e', { at: 'None' }),
];

function limitOf(partition: Amount, more: Partial<PartitionContext> = {}): string {
  const context = { mode: 'Forward' as RolloutMode, revision: NEW, joining: new Set<string>(), ...more };
  const { slots, kept, because } = partitionLimit(
    inputOf({ members: MIXED, rollout: { partition } }),
    context,
  );
  return `${slots} slots, ${kept} kept: ${because}`;
}

const FREE = 'Infinity slots, 0 kept: no limit applies';

describe('partitionLimit', () => {
  it.each<[what: string, limit: () => string, expected: string]>([
    ['limits nothing without a partition', () => limitOf(0), FREE],
    [
      'counts each machine without the revision, held or not',
      () => limitOf(2),
      '1 slots, 2 kept: 2 machines held by partition',
    ],
    ['names one machine in the singular', () => limitOf(1), '2 slots, 1 kept: 1 machine held by partition'],
    ['keeps no more than there are', () => limitOf(9), '-6 slots, 3 kept: 3 machines held by partition'],
    [
      'takes a percentage of all selected machines',
      () => limitOf('40%'),
      '1 slots, 2 kept: 2 machines held by partition',
    ],
    [
      'counts no machine that joins now',
      () => limitOf(2, { joining: new Set(['e']) }),
      '0 slots, 2 kept: 2 machines held by partition',
    ],
    ['lets every machine go back', () => limitOf(2, { mode: 'Revert' }), FREE],
  ])('ROL-04 keeps machines at the old revision: %s', (_, limit, expected) => {
    expect(limit()).toBe(expected);
  });
});

/** The names that are started, and why no more are. */
function planned(partition: Amount, parts: Parameters<typeof inputOf>[0] = {}): string {
  const input = inputOf({ rollout: { partition, batches: [9], maxUnavailable: 9 }, ...parts });
  const plan = planRollout(input);
  const started = plan.actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []));
  const wait = setWait({ input, plan, denials: [], conflicts: [], runs: [] });
  return `${started.length} started, ${plan.limit.reason}, waits: ${wait?.because ?? 'no'}`;
}

describe('planRollout with a partition', () => {
  const FRESH = { updateRevision: NEW.name, history: [COMPLETED] };
  const four = ['a', 'b', 'c', 'd'].map((name) => member(name));
  const two = [
    member('a', { at: NEW, batch: 0 }),
    member('b', { at: NEW, batch: 0 }),
    member('c'),
    member('d'),
  ];
  const passed = progressOf({
    batch: { index: 0, size: 2, total: 4, startedAt: new Date(0), soakUntil: new Date(1) },
  });

  it.each<[what: string, found: () => string, expected: string]>([
    [
      'opens a batch of what may go on',
      () => planned(3, { members: four, progress: FRESH }),
      '1 started, BatchFull, waits: no',
    ],
    [
      'opens none where all are kept',
      () => planned('100%', { members: four, progress: FRESH }),
      '0 started, HeldByPartition, waits: 4 machines held by partition',
    ],
    [
      'stops after the batch that reaches it',
      () => planned(2, { members: two, progress: passed }),
      '0 started, HeldByPartition, waits: 2 machines held by partition',
    ],
    [
      'goes on once it is smaller',
      () => planned(1, { members: two, progress: passed }),
      '1 started, BatchFull, waits: no',
    ],
    [
      'completes once it is 0 and no machine is left',
      () => planned(0, { members: two.slice(0, 2), progress: passed }),
      '0 started, AllDone, waits: no',
    ],
    [
      'does not fill an open batch up once it is larger',
      () =>
        planned(3, {
          members: two,
          progress: progressOf({ batch: { index: 0, size: 4, total: 4, startedAt: new Date(0) } }),
        }),
      '0 started, Soaking, waits: no',
    ],
  ])('ROL-04 stops a rollout at its partition: %s', (_, found, expected) => {
    expect(found()).toBe(expected);
  });

  it('ROL-04 does not complete while it keeps machines that a person holds, so that a release moves none', () => {
    const members = [member('a', { at: NEW, batch: 0 }), member('b', { hold: HOLD })];
    expect(planned(1, { members, progress: passed })).toMatch(/^0 started, HeldByPartition/);
    const released = [member('a', { at: NEW, batch: 0 }), member('b')];
    expect(planned(1, { members: released, progress: passed })).toMatch(/^0 started, HeldByPartition/);
  });

  it('ROL-04 lets a revert pass: machines go back to the revision that the others kept', () => {
    const history = [{ revision: NEW.name, result: 'Superseded' }, COMPLETED] as const;
    const progress = { updateRevision: OLD.name, history };
    const found = planned(2, { members: two, progress, desired: { revision: OLD, yanked: [] } });
    expect(found).toBe('2 started, BatchFull, waits: no');
  });
});

const NO_SOAK = { soakSeconds: 0, checks: [], approval: 'None' } as const;

/** Rolls out under a partition, lowers it, then takes half of it back. */
function lowered(more: Partial<ConstructorParameters<typeof RolloutSimulation>[0]> = {}): RolloutSimulation {
  const rollout = { batches: [1, 2], partition: 3, maxUnavailable: '100%' as Amount, gate: NO_SOAK };
  const sim = new RolloutSimulation({ machines: 6, installed: '1', rollout, ...more });
  sim.version('2');
  sim.run(600);
  sim.say(sim.summary());
  sim.edit({ rollout: { ...sim.set.spec.rollout, partition: '20%' } });
  sim.run(600);
  sim.say(sim.summary());
  sim.version('1');
  sim.run(600);
  return sim;
}

describe('a rollout under a partition', () => {
  it('ROL-04 stops at it, goes on when it is lowered, and goes back as a whole', () => {
    const sim = lowered();
    const summaries = sim.lines.filter((line) => / run app-/.test(line)).map((line) => line.slice(9));
    expect(summaries).toEqual([
      '3 run app-1, 3 run app-2; grants in work: 0',
      '1 run app-1, 5 run app-2; grants in work: 0',
    ]);
    expect(sim.summary()).toBe('6 run app-1; grants in work: 0');
  });

  it('ROL-04 ends the same after a crash before or after each write', () => {
    const { writes } = lowered();
    const end = '6 run app-1; grants in work: 0';
    for (let at = 1; at <= writes; at += 1) {
      for (const when of ['Before', 'After'] as const) {
        expect(`${at} ${when}: ${lowered({ crash: { at, when } }).summary()}`).toBe(`${at} ${when}: ${end}`);
      }
    }
  });
});
