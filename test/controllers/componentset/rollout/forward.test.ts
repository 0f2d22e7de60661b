import { describe, expect, it } from 'vitest';
import {
  type BatchContext,
  planBatches,
  type RolloutStep,
} from '../../../../src/controllers/componentset/rollout/forward.ts';
import type {
  RolloutInput,
  RolloutProgress,
} from '../../../../src/controllers/componentset/rollout/input.ts';
import { ago } from '../../../support/builders.ts';
import {
  appRevision,
  BATCH,
  COMPLETED,
  grant,
  type InputParts,
  inputOf,
  member,
  NEW,
  progressOf,
} from './rollout-input.ts';

const CONTEXT: BatchContext = {
  mode: 'Forward',
  revision: NEW,
  joining: new Set(),
  availability: { slots: 9, reason: 'TooManyUnavailable', because: 'too many' },
};
const FRESH: RolloutProgress = { updateRevision: NEW.name, history: [COMPLETED] };
const SOAKED = progressOf({ batch: { ...BATCH, size: 1, soakUntil: new Date(ago(0)) } });
const CANARY = {
  canary: { machineSelector: { all: false, matchLabels: { canary: 'yes' } }, count: 1, hold: false },
};
const OTHER = appRevision('3');
const IN_WORK = { step: 'InWork', reason: 'Probation' } as const;
const DIFFERS = { at: NEW, batch: 1, step: 'Differs', reason: 'HostDiffers' } as const;
const LABEL = { labels: { canary: 'yes' } };
const HELD_CANARY = { ...LABEL, hold: { reason: 'x', scope: 'All' } } as const;
const ON_HOLD = { canary: { ...CANARY.canary, hold: true } };

function plan(parts: InputParts, progress = FRESH, context: Partial<BatchContext> = {}): RolloutStep {
  const input: RolloutInput = inputOf({ ...parts, progress });
  return planBatches(input, progress, { ...CONTEXT, ...context });
}

/** Of a set that had no revision before. */
function emptyFirst(): RolloutStep {
  const progress = { updateRevision: NEW.name, history: [] };
  const { stable: _stable, ...input } = inputOf({ members: [], progress });
  return planBatches(input, progress, CONTEXT);
}

function explain({ progress, actions, limit }: RolloutStep): string {
  const names = actions.map((action) => ('member' in action ? action.member.name : '')).toSorted();
  const { batch } = progress;
  return `${batch ? `batch ${batch.index} of ${batch.size}` : 'no batch'}: ${names.join(' ') || '-'}, ${limit.reason}`;
}

describe('planBatches', () => {
  const both = [member('a'), member('b')];

  it.each<[what: string, step: () => RolloutStep, expected: string]>([
    ['the first batch', () => plan({ members: [member('a')] }), 'batch 0 of 1: a, BatchFull'],
    [
      'a batch larger than what is left',
      () => plan({ members: both, rollout: { batches: [5] } }),
      'batch 0 of 2: a b, BatchFull',
    ],
    [
      'too few slots for the batch',
      () =>
        plan({ members: both, rollout: { batches: [2] } }, FRESH, {
          availability: { ...CONTEXT.availability, slots: 0 },
        }),
      'batch 0 of 2: -, TooManyUnavailable',
    ],
    [
      'the next batch after a soak',
      () => plan({ members: [member('a', { at: NEW, batch: 1 }), member('b')] }, SOAKED),
      'batch 2 of 1: b, BatchFull',
    ],
    [
      'the next batch after one in which a host differs, and another one runs the revision',
      () =>
        plan(
          {
            members: [member('a', DIFFERS), member('b', { at: NEW, batch: 1 }), member('c')],
          },
          SOAKED,
        ),
      'batch 2 of 1: c, BatchFull',
    ],
    [
      'nothing after a batch in which every host differs',
      () => plan({ members: [member('a', DIFFERS), member('b')] }, SOAKED),
      'batch 1 of 1: -, NothingProven',
    ],
    [
      'nothing after a canary that differs',
      () =>
        plan(
          { members: [member('a', { ...DIFFERS, ...LABEL, batch: 0 }), member('b')], rollout: CANARY },
          progressOf({ batch: { ...BATCH, index: 0, size: 1, soakUntil: new Date(ago(0)) } }),
        ),
      'batch 0 of 1: -, NothingProven',
    ],
    [
      'nothing after a batch in which every host differs, whatever a person has approved',
      () => {
        const approved = { revision: NEW.name, throughBatch: 9 };
        return plan({ members: [member('a', DIFFERS), member('b')], rollout: { approved } }, SOAKED);
      },
      'batch 1 of 1: -, NothingProven',
    ],
    [
      'the next batch after one in which every host differs, in a revert',
      () => plan({ members: [member('a', DIFFERS), member('b')] }, SOAKED, { mode: 'Revert' }),
      'batch 2 of 1: b, BatchFull',
    ],
    [
      'the end after a soak',
      () => plan({ members: [member('a', { at: NEW, batch: 1 })] }, SOAKED),
      'no batch: -, AllDone',
    ],
    ['nothing to do', () => plan({ members: [member('a', { at: NEW })] }), 'no batch: -, AllDone'],
    [
      'a machine in work outside of the batches',
      () => plan({ members: [member('a', { at: NEW, step: 'InWork', reason: 'Probation' })] }),
      'no batch: -, Probation',
    ],
    [
      'a machine in work at another revision',
      () => plan({ members: [member('a', { step: 'InWork', reason: 'Probation', holdsGrant: true })] }),
      'no batch: -, Probation',
    ],
    [
      'a machine in work at another revision, in a revert',
      () => plan({ members: [member('a', { step: 'InWork', holdsGrant: true })] }, FRESH, { mode: 'Revert' }),
      'batch 0 of 1: a, BatchFull',
    ],
    [
      'only a silent machine left',
      () => plan({ members: [member('a', { isSilent: true })] }),
      'no batch: -, AgentSilent',
    ],
    [
      'only a busy machine left',
      () => plan({ members: [member('a', { grant: grant({ holder: { kind: 'Other', name: 'x' } }) })] }),
      'no batch: -, MachineBusy',
    ],
    [
      'only a held machine left',
      () => plan({ members: [member('a', { hold: { reason: 'x', scope: 'All' } })] }),
      'no batch: -, AllDone',
    ],
    [
      'only a pinned machine left',
      () => plan({ members: [member('a', { pinned: ['app'] })] }),
      'no batch: -, AllDone',
    ],
    [
      'a machine that joins',
      () => plan({ members: [member('a', { at: 'None' })] }, FRESH, { joining: new Set(['a']) }),
      'no batch: -, AllDone',
    ],
    [
      'the canary',
      () => plan({ members: [member('a'), member('b', LABEL)], rollout: CANARY }),
      'batch 0 of 1: b, BatchFull',
    ],
    [
      'a canary that cannot start',
      () => plan({ members: [member('a'), member('b', { ...LABEL, isSilent: true })], rollout: CANARY }),
      'no batch: -, AgentSilent',
    ],
    [
      'a canary that matches no machine',
      () => plan({ members: [member('a')], rollout: CANARY }),
      'batch 1 of 1: a, BatchFull',
    ],
    [
      'a canary that a person holds',
      () => plan({ members: [member('a'), member('b', HELD_CANARY)], rollout: CANARY }),
      'no batch: -, Held',
    ],
    [
      'a canary that joins',
      () =>
        plan({ members: [member('a'), member('b', { ...LABEL, at: 'None' })], rollout: CANARY }, FRESH, {
          joining: new Set(['b']),
        }),
      'no batch: -, CanaryJoins',
    ],
    [
      'a canary that would join and is silent',
      () => {
        const silent = member('b', { ...LABEL, at: 'None', isSilent: true });
        return plan({ members: [member('a'), silent], rollout: CANARY }, FRESH, { joining: new Set(['b']) });
      },
      'no batch: -, AgentSilent',
    ],
    [
      'a canary that joined at the revision itself',
      () => plan({ members: [member('a'), member('b', { ...LABEL, at: NEW })], rollout: CANARY }),
      'batch 1 of 1: a, BatchFull',
    ],
    [
      'a canary that has the revision already, and is held',
      () => plan({ members: [member('a'), member('b', { ...HELD_CANARY, at: NEW })], rollout: CANARY }),
      'batch 1 of 1: a, BatchFull',
    ],
    [
      'a canary that a person holds, in a revert',
      () =>
        plan({ members: [member('a'), member('b', HELD_CANARY)], rollout: CANARY }, FRESH, {
          mode: 'Revert',
        }),
      'batch 1 of 1: a, BatchFull',
    ],
    [
      'one of two canaries held',
      () => plan({ members: [member('a', LABEL), member('b', HELD_CANARY), member('c')], rollout: CANARY }),
      'batch 0 of 1: a, BatchFull',
    ],
    [
      'a pinned canary',
      () =>
        plan({ members: [member('a'), member('b', { ...HELD_CANARY, pinned: ['app'] })], rollout: CANARY }),
      'batch 1 of 1: a, BatchFull',
    ],
    [
      'a first batch without a canary, on hold',
      () => plan({ members: [member('a', { at: NEW, batch: 1 }), member('b')], rollout: ON_HOLD }, SOAKED),
      'batch 1 of 1: -, ApprovalRequired',
    ],
    [
      'a batch after a canary that was approved',
      () => {
        const members = [
          member('a', { ...LABEL, at: NEW, batch: 0 }),
          member('b', { at: NEW, batch: 1 }),
          member('c'),
        ];
        return plan({ members, rollout: ON_HOLD }, SOAKED);
      },
      'batch 2 of 1: c, BatchFull',
    ],
    [
      'an approval',
      () =>
        plan(
          {
            members: [member('a', { at: NEW, batch: 1 }), member('b')],
            rollout: { gate: { soakSeconds: 0, checks: [], approval: 'EveryBatch' } },
          },
          SOAKED,
        ),
      'batch 1 of 1: -, ApprovalRequired',
    ],
    [
      'no approval in a revert',
      () =>
        plan(
          {
            members: [member('a', { at: NEW, batch: 1 }), member('b')],
            rollout: { gate: { soakSeconds: 0, checks: [], approval: 'EveryBatch' } },
          },
          SOAKED,
          { mode: 'Revert' },
        ),
      'batch 2 of 1: b, BatchFull',
    ],
  ])('ROL-01 opens and fills batches: %s', (_what, step, expected) => {
    expect(explain(step())).toBe(expected);
  });

  it.each<[what: string, step: () => RolloutStep, expected: string]>([
    [
      'one that has it already',
      () => plan({ members: [member('a', { at: NEW, batch: 0 })] }),
      'batch 0 of 1: -, BatchFull',
    ],
    [
      'one of a later batch that has it already',
      () =>
        plan({ members: [member('a', { at: NEW, batch: 1 }), member('b', { at: NEW, batch: 3 })] }, SOAKED),
      'batch 3 of 1: -, BatchFull',
    ],
    [
      'one of the batch before, which is still in work',
      () => plan({ members: [member('a', { at: NEW, batch: 1, ...IN_WORK }), member('b')] }, SOAKED),
      'batch 1 of 1: -, Probation',
    ],
    [
      'two of a batch of five, and others that follow',
      () => {
        const earlier = ['a', 'b'].map((name) => member(name, { at: NEW, batch: 2 }));
        const rest = ['c', 'd', 'e', 'f'].map((name) => member(name));
        const open = member('z', { at: NEW, batch: 1 });
        return plan({ members: [open, ...earlier, ...rest], rollout: { batches: [1, 1, 5] } }, SOAKED);
      },
      'batch 2 of 5: d e f, BatchFull',
    ],
    [
      'more than are in the batch now',
      () => {
        const earlier = ['a', 'b'].map((name) => member(name, { at: NEW, batch: 0 }));
        return plan({ members: [...earlier, member('c')] });
      },
      'batch 0 of 2: -, BatchFull',
    ],
    [
      'one that has it, while no other can start',
      () => plan({ members: [member('a', { at: NEW, batch: 0 }), member('b', { isSilent: true })] }),
      'batch 0 of 1: -, BatchFull',
    ],
    [
      'the canary, in work',
      () =>
        plan({
          members: [member('a'), member('b', { ...LABEL, at: NEW, batch: 0, ...IN_WORK })],
          rollout: CANARY,
        }),
      'batch 0 of 1: -, BatchFull',
    ],
    [
      'the canary, and a further one that is held',
      () => {
        const canary = member('b', { ...LABEL, at: NEW, batch: 0 });
        return plan({ members: [member('a'), canary, member('c', HELD_CANARY)], rollout: CANARY });
      },
      'batch 0 of 1: -, BatchFull',
    ],
    [
      'one that has it already, in a revert',
      () => plan({ members: [member('a', { at: NEW, batch: 0 })] }, FRESH, { mode: 'Revert' }),
      'no batch: -, AllDone',
    ],
  ])('ROL-05 opens the batches of a revision that comes back again: %s', (_what, step, expected) => {
    expect(explain(step())).toBe(expected);
  });

  it.each<[what: string, step: () => RolloutStep, expected: string]>([
    [
      'in the first batch',
      () =>
        plan({ members: [member('a', { at: OTHER, batch: 0, holdsGrant: true, ...IN_WORK }), member('b')] }),
      'batch 0 of 1: b, BatchFull',
    ],
    [
      'in a batch of the same number as the open one',
      () => {
        const between = member('b', { at: OTHER, batch: 1, holdsGrant: true, ...IN_WORK });
        return plan({ members: [member('a', { at: NEW, batch: 1 }), between, member('c')] }, SOAKED);
      },
      'batch 2 of 2: c, BatchFull',
    ],
  ])('ROL-05 does not wait for what another revision has in work: %s', (_what, step, expected) => {
    expect(explain(step())).toBe(expected);
  });

  it.each([
    ['is held', HELD_CANARY, 'b: held: x'],
    ['joins', { ...LABEL, at: 'None' }, 'b: is a canary that joins first'],
  ] as const)('ROL-02 names the canary that %s', (_what, parts, because) => {
    const joining = new Set('at' in parts ? ['b'] : []);
    const { limit } = plan({ members: [member('a'), member('b', parts)], rollout: CANARY }, FRESH, {
      joining,
    });
    expect(limit).toMatchObject({ because, blocker: { kind: 'Machine', name: 'b' } });
  });

  it('ROL-01 goes on without a pause where the soak has no length', () => {
    const members = [member('a', { at: NEW, batch: 1 }), member('b', { at: NEW, batch: 1 }), member('c')];
    const gate = { soakSeconds: 0, checks: [], approval: 'None' } as const;
    expect(explain(plan({ members, rollout: { gate } }, progressOf()))).toBe('batch 2 of 1: c, BatchFull');
  });

  it('ROL-33 remembers a revision that completed', () => {
    const { progress } = plan({ members: [member('a', { at: NEW, batch: 1 })] }, SOAKED);
    expect(progress.history[0]).toMatchObject({ revision: NEW.name, result: 'Completed' });
  });

  it.each<[what: string, step: () => RolloutStep, newest: string | undefined]>([
    ['is not proven after one that is', () => plan({ members: [] }), COMPLETED.revision],
    [
      'is not proven when all machines of the batch left',
      () => plan({ members: [] }, SOAKED),
      COMPLETED.revision,
    ],
    ['is the first one of the set', () => emptyFirst(), NEW.name],
    [
      'is not proven when every host differs',
      () => plan({ members: [member('a', DIFFERS), member('b', DIFFERS)] }, SOAKED),
      COMPLETED.revision,
    ],
    [
      'is proven by one host while another one differs',
      () => plan({ members: [member('a', { at: NEW, batch: 1 }), member('b', DIFFERS)] }, SOAKED),
      NEW.name,
    ],
    ['was proven before', () => plan({ members: [] }, FRESH, { mode: 'Revert' }), NEW.name],
  ])('ROL-40 ends at once without a machine to change, with a revision that %s', (_what, step, newest) => {
    expect(explain(step())).toBe('no batch: -, AllDone');
    expect(step().progress.history[0]?.revision).toBe(newest);
  });
});
