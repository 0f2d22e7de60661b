import { describe, expect, it } from 'vitest';
import { nextReconcileAt, type RequeueInput } from '../../../src/controllers/componentset/requeue.ts';
import { NOW } from '../../support/builders.ts';
import { BATCH, inputOf, member, progressOf } from './rollout/rollout-input.ts';

const IDLE = { history: [] };
const NO_CHECKS = { due: [], machines: { batch: [], rest: [] } };
const FULL = { slots: 0, reason: 'BatchFull', because: '' };
const CLOSED = { slots: 0, reason: 'OutsideWindow', because: '', until: new Date(NOW.getTime() + 3000) };
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

function denied(retryAt?: Date): RequeueInput['denials'] {
  const denial = { granted: false, reason: 'KillSwitch', message: '', also: [] } as const;
  return [{ machine: 'm-1', denial: { ...denial, ...(retryAt ? { retryAt } : {}) } }];
}

describe('nextReconcileAt', () => {
  it.each<[what: string, parts: Partial<RequeueInput>, seconds: number]>([
    ['nothing goes on', {}, 30],
    ['a batch is open', { plan: { progress: progressOf(), actions: [], limit: FULL, checks: NO_CHECKS } }, 5],
    ['a machine is in work', { input: inputOf({ members: [member('m', { holdsGrant: true })] }) }, 5],
    ['a machine that left is in work', { input: inputOf({ left: [member('m', { holdsGrant: true })] }) }, 5],
    [
      'the soak ends',
      {
        plan: {
          progress: progressOf({ batch: { ...BATCH, soakUntil: after(2) } }),
          actions: [],
          limit: FULL,
          checks: NO_CHECKS,
        },
      },
      2,
    ],
    [
      'the soak has ended',
      {
        plan: {
          progress: progressOf({ batch: { ...BATCH, soakUntil: NOW } }),
          actions: [],
          limit: FULL,
          checks: NO_CHECKS,
        },
      },
      5,
    ],
    [
      'a check is due',
      {
        plan: {
          progress: progressOf(),
          actions: [],
          limit: FULL,
          checks: { ...NO_CHECKS, nextAt: after(3) },
        },
      },
      3,
    ],
    [
      'a window opens',
      { plan: { progress: progressOf(), actions: [], limit: CLOSED, checks: NO_CHECKS } },
      3,
    ],
    ['a denial ends', { denials: denied(after(7)) }, 7],
    ['a denial has no end', { denials: denied() }, 30],
    ['something was not written', { isIncomplete: true }, 0],
    [
      'something is remembered now',
      {
        plan: {
          progress: IDLE,
          actions: [{ type: 'Persist', progress: IDLE, because: '' }],
          limit: FULL,
          checks: NO_CHECKS,
        },
      },
      0,
    ],
  ])('ROL-12 looks again in time when %s', (_what, parts, seconds) => {
    const usual = {
      input: inputOf(),
      plan: { progress: IDLE, actions: [], limit: FULL, checks: NO_CHECKS },
      denials: [],
      isIncomplete: false,
    };
    expect(nextReconcileAt({ ...usual, ...parts })).toEqual(after(seconds));
  });
});
