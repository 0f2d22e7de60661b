import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import type { Revision } from '../../../../../src/controllers/componentset/revision/resolve.ts';
import type { RolloutInput, RolloutPlan } from '../../../../../src/controllers/componentset/rollout/input.ts';
import { planUpkeep } from '../../../../../src/controllers/componentset/rollout/upkeep/upkeep.ts';
import { ago } from '../../../../support/builders.ts';
import { ROLLOUT } from '../../component-set.ts';
import {
  appRevision,
  BATCH,
  COMPLETED,
  grant,
  type InputParts,
  inputOf,
  member,
  NEW,
  OLD,
  observedInput,
  progressOf,
  type StateParts,
} from '../rollout-input.ts';
import { HOLDS, type ReportState, refOf, reporting, running } from './reporting-member.ts';

const NONE: ReadonlySet<string> = new Set();

function actionOf(parts: StateParts, { paused = false, changing = NONE, left = false } = {}): string {
  const each = member('m', parts);
  const input = inputOf({ paused, members: left ? [] : [each], left: left ? [each] : [] });
  return planUpkeep(input, changing)
    .map((action) => {
      if (action.type === 'Settle') return `Settle ${action.outcome}`;
      return action.type === 'Permit'
        ? `Permit ${action.permission.by} ${action.permission.class}`
        : action.type;
    })
    .join();
}

const IS_STOPPED = { stopped: { reason: 'FailureBudgetSpent', because: 'machines failed: 1' } };
const STOPPED = progressOf(IS_STOPPED);
const PAUSES = { failure: { ...ROLLOUT.failure, maxFailed: 5, onFailure: 'Pause' } } as const;
const GOES_BACK = { failure: { ...PAUSES.failure, onFailure: 'RollbackFailed' } } as const;

/** From NEW to OLD: because NEW failed, and because git asks for OLD again. */
const GOES_BACK_NOW = progressOf({ history: [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] });
const REVERTS = progressOf({
  updateRevision: OLD.name,
  history: [{ revision: NEW.name, result: 'Completed' }, COMPLETED],
});

function upkeepOf(each: MemberState, parts: InputParts): string {
  return doneBy({ actions: planUpkeep(inputOf({ ...parts, members: [each] }), NONE) });
}

function doneBy({ actions }: Pick<RolloutPlan, 'actions'>): string {
  return actions.map((action) => action.type).join(' ');
}

describe('planUpkeep', () => {
  it.each<[what: string, parts: StateParts, expected: string]>([
    ['settled', HOLDS, 'Settle Succeeded'],
    ['settled without a grant', {}, ''],
    [
      'settled, with a grant for another revision that is in no entry',
      { grant: grant({ holder: { ...grant().holder, revision: 'r-bad' } }), holdsGrant: true },
      'Settle Ambiguous',
    ],
    [
      'settled after it went back with the grant of its update',
      { ...HOLDS, grant: grant({ holder: { ...grant().holder, revision: 'r-bad' } }) },
      'Settle Succeeded',
    ],
    ['unhealthy as before', { ...HOLDS, step: 'UnhealthyBefore' }, 'Settle Ambiguous'],
    ['adopted and different', { ...HOLDS, step: 'Differs' }, 'Settle Unused'],
    ['given up', { ...HOLDS, step: 'Failed', reason: 'RolledBack' }, 'Settle Failed'],
    ['given up on a Node that is not Ready', { ...HOLDS, step: 'Failed', readiness: 'NotReady' }, ''],
    [
      'given up where no Node has served',
      { ...HOLDS, step: 'Failed', readiness: 'NotReady', isEstablished: false },
      'Settle Failed',
    ],
    ['too long in work', { ...HOLDS, step: 'Failed', reason: 'TimedOut' }, ''],
    ['silent for too long', { ...HOLDS, step: 'Failed', reason: 'AgentSilent' }, ''],
    ['in work', { ...HOLDS, step: 'InWork' }, ''],
    [
      'in work, with a grant that ends soon',
      { ...HOLDS, step: 'InWork', grantEndsAt: new Date(ago(-150)) },
      'Permit Renew None',
    ],
    [
      'in work, with a grant that is in the ledger only',
      { grant: grant(), holdsGrant: true, step: 'InWork' },
      'Permit Renew None',
    ],
    [
      'in work, with a grant that was taken out of entries that its agent has not acted on yet',
      { grant: grant(), holdsGrant: true, step: 'InWork', reason: 'NotObserved' },
      '',
    ],
    [
      'the same, when the grant ends soon',
      { grant: grant({ notAfter: ago(-150) }), holdsGrant: true, step: 'InWork', reason: 'NotObserved' },
      'Permit Renew None',
    ],
    ['silent', { ...HOLDS, step: 'Unknown', grantEndsAt: new Date(ago(10)) }, ''],
  ])('ROL-10 settles and renews grants: %s', (_what, parts, expected) => {
    expect(actionOf(parts)).toBe(expected);
  });

  it.each<[what: string, parts: InputParts, at: Revision, recovery: boolean]>([
    ['to the new revision', {}, NEW, false],
    ['back in a rollback', { progress: GOES_BACK_NOW }, OLD, true],
    ['that has to go back in a rollback', { progress: GOES_BACK_NOW }, NEW, false],
    ['back in a rollback, while the set is paused', { progress: GOES_BACK_NOW, paused: true }, OLD, true],
    ['back in a revert', { progress: REVERTS, desired: { revision: OLD, yanked: [] } }, OLD, true],
    [
      'that has to go back in a revert',
      { progress: REVERTS, desired: { revision: OLD, yanked: [] } },
      NEW,
      false,
    ],
  ])('ROL-32 ROL-33 renews as a recovery what goes back: in work %s', (_what, parts, at, recovery) => {
    const each = member('m', { ...HOLDS, at, step: 'InWork', grantEndsAt: new Date(ago(-150)) });
    expect(planUpkeep(inputOf({ ...parts, members: [each] }), NONE)).toMatchObject([
      { type: 'Permit', permission: { by: 'Renew', recovery } },
    ]);
  });

  it('ROL-34 keeps grants while the set is paused, and asks for none', () => {
    expect(actionOf(HOLDS, { paused: true })).toBe('Settle Succeeded');
  });

  it('ROL-10 settles the grant of an update that takes too long once its revision completed without the machine', () => {
    const late = member('m', { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' });
    const completed = progressOf({ history: [{ revision: NEW.name, result: 'Completed' }] });
    const outcomes = [progressOf(), completed].map((progress) =>
      planUpkeep(inputOf({ members: [late], progress }), NONE).map((action) => action.type),
    );
    expect(outcomes).toEqual([[], ['Settle']]);
  });

  it.each<[state: ReportState, expected: string]>([
    ['WaitingForDrain', 'Settle'],
    ['Activating', ''],
    ['Probation', ''],
    ['RollingBack', ''],
  ])('ROL-10 keeps the grant of such a machine while its agent changes what runs: %s', (state, expected) => {
    const late = reporting(state, { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' });
    const progress = progressOf({ history: [{ revision: NEW.name, result: 'Completed' }] });
    expect(upkeepOf(late, { progress })).toBe(expected);
  });

  it.each<[what: string, state: ReportState | undefined, late: StateParts, expected: string]>([
    ['that waits for its drain', 'WaitingForDrain', {}, 'Settle'],
    ['that has not fetched it', 'Fetching', {}, 'Settle'],
    ['whose Node is not Ready', 'WaitingForDrain', { readiness: 'NotReady' }, ''],
    ['that is silent', 'WaitingForDrain', { reason: 'AgentSilent' }, ''],
    ['whose drain has not begun', 'WaitingForDrain', { step: 'InWork', reason: 'DrainPending' }, 'Settle'],
    ['that has time left to fetch it', 'Fetching', { step: 'InWork', reason: 'Fetching' }, ''],
    ['that activates it', 'Activating', {}, ''],
    ['that proves it', 'Probation', {}, ''],
    ['that runs it, with probes that fail', 'Committed', {}, ''],
    ['whose agent has not reported it', undefined, {}, ''],
  ])(
    'ROL-35 ends the update that took too long, or waits for a drain, in a rollout that has stopped, of a machine %s',
    (...row) => {
      const [, state, late, expected] = row;
      const each = reporting(state, { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut', ...late });
      expect(upkeepOf(each, { progress: STOPPED, rollout: PAUSES })).toBe(expected);
    },
  );

  it('ROL-35 keeps the drain for a restart of what is in force on a machine of a rollout that has stopped', () => {
    const waiting = reporting('WaitingForDrain', {
      ...HOLDS,
      at: NEW,
      step: 'InWork',
      reason: 'DrainPending',
    });
    const stops = { progress: STOPPED, rollout: PAUSES };
    expect(upkeepOf(running(waiting, refOf(NEW)), stops)).toBe('');
    expect(upkeepOf(waiting, stops)).toBe('Settle');
  });

  it('ROL-35 keeps the grant of an update that took too long while its rollout goes on, or goes back', () => {
    const each = reporting('WaitingForDrain', { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' });
    expect(upkeepOf(each, { rollout: PAUSES })).toBe('');
    expect(upkeepOf(each, { rollout: GOES_BACK, progress: GOES_BACK_NOW })).toBe('');
    expect(upkeepOf(each, { rollout: GOES_BACK, progress: { ...GOES_BACK_NOW, ...IS_STOPPED } })).toBe('');
  });

  it('ROL-35 ends it in a rollout that stopped and does not go back, whatever the set asks for', () => {
    const each = reporting('WaitingForDrain', { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' });
    expect(upkeepOf(each, { rollout: GOES_BACK, progress: STOPPED })).toBe('Settle');
    const reverts = { progress: { ...REVERTS, ...IS_STOPPED }, desired: { revision: OLD, yanked: [] } };
    const back = reporting('WaitingForDrain', { ...HOLDS, step: 'Failed', reason: 'TimedOut' });
    expect(upkeepOf(back, { rollout: GOES_BACK, ...reverts })).toBe('Settle');
  });

  it('ROL-35 ends the update that took too long in a rollout that stopped with nothing to return to', () => {
    const late = { ...HOLDS, step: 'Failed', reason: 'TimedOut' } as const;
    const ends = (at: Revision, input: RolloutInput): string =>
      doneBy({
        actions: planUpkeep({ ...input, members: [reporting('WaitingForGrant', { ...late, at })] }, NONE),
      });
    const { stable: _, ...first } = inputOf({ rollout: GOES_BACK, progress: { ...STOPPED, history: [] } });
    expect(ends(NEW, first)).toBe('Settle');
    const { stopped } = STOPPED;
    const progress = { ...REVERTS, ...(stopped && { stopped }) };
    const desired = { revision: OLD, yanked: [] };
    expect(ends(OLD, inputOf({ rollout: GOES_BACK, progress, desired }))).toBe('Settle');
    expect(ends(OLD, inputOf({ rollout: GOES_BACK, progress: REVERTS, desired }))).toBe('');
  });

  it('ROL-35 ends the update in the reconcile in which its rollout stops, and keeps it when a retry token resumes it', () => {
    const each = reporting('WaitingForDrain', { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' });
    const stops = { rollout: { failure: { ...PAUSES.failure, maxFailed: 0 } }, members: [each] };
    expect(doneBy(planRollout(inputOf(stops)))).toBe('Persist Settle');
    const resumed = { rollout: PAUSES, progress: STOPPED, retryToken: 'again', members: [each] };
    expect(doneBy(planRollout(inputOf(resumed)))).toBe('Persist');
  });

  it('ROL-35 ends the update that took too long to a revision that is not asked for any more', () => {
    const late = { ...HOLDS, step: 'Failed', reason: 'TimedOut' } as const;
    const ends = (state: ReportState, parts: InputParts): string =>
      upkeepOf(reporting(state, { ...late, at: OLD }), parts);
    expect(ends('WaitingForGrant', {})).toBe('Settle');
    expect(ends('WaitingForDrain', { progress: STOPPED })).toBe('Settle');
    expect(ends('Probation', {})).toBe('');
    expect(ends('WaitingForDrain', { progress: GOES_BACK_NOW })).toBe('');
  });

  it.each<[what: string, parts: InputParts]>([
    ['cannot be resolved', { desired: { problems: [{ reason: 'ComponentNotFound', because: '' }] } }],
    [
      'was rolled back',
      {
        progress: progressOf({
          history: [{ revision: NEW.name, result: 'RolledBack', finishedAt: ago(5) }, COMPLETED],
        }),
      },
    ],
  ])('ROL-35 ends the update that took too long while the revision %s', (_what, parts) => {
    const late = { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' } as const;
    expect(upkeepOf(reporting('WaitingForDrain', late), parts)).toBe('Settle');
    expect(upkeepOf(reporting('Activating', late), parts)).toBe('');
  });

  it('ROL-11 frees the place that an update to an earlier revision takes, where unhealthy machines do not go first', () => {
    const late = reporting('WaitingForGrant', { ...HOLDS, at: OLD, step: 'Failed', reason: 'TimedOut' });
    const rollout = { maxUnavailable: 1, preferUnhealthy: false };
    const input = observedInput({
      rollout,
      members: [late],
      progress: { ...progressOf(), batch: { ...BATCH, index: 0 } },
    });
    const { actions, limit } = planRollout(input);
    expect(limit.reason).toBe('TooManyUnavailable');
    expect(doneBy({ actions })).toBe('Settle');
  });

  it.each<[what: string, state: ReportState, current: Revision, batch: number | undefined, expected: string]>(
    [
      ['of a machine that joined', 'WaitingForGrant', NEW, undefined, 'Settle'],
      ['of an earlier batch', 'WaitingForDrain', NEW, 0, 'Settle'],
      ['of the open batch, which fails there', 'WaitingForGrant', NEW, 1, ''],
      ['that its agent carries out', 'Probation', NEW, undefined, ''],
      ['that is the update of a machine that joined', 'WaitingForGrant', OLD, undefined, ''],
    ],
  )('ROL-11 frees the place that a restart takes which took too long: %s', (...row) => {
    const [, state, current, batch, expected] = row;
    const { batch: _, ...late } = reporting(state, { ...HOLDS, at: NEW, step: 'Failed', reason: 'TimedOut' });
    const each = running({ ...late, ...(batch === undefined ? {} : { batch }) }, refOf(current));
    const waiting = member('n', { at: OLD });
    const input = observedInput({ rollout: { ...PAUSES, maxUnavailable: 1 }, members: [each, waiting] });
    const { actions, limit } = planRollout(input);
    expect([limit.reason, doneBy({ actions })]).toEqual(['TooManyUnavailable', expected]);
  });

  it('ROL-11 frees it also before the first batch is open', () => {
    const { batch: _batch, ...progress } = progressOf();
    const { batch: _, ...late } = reporting('WaitingForGrant', {
      ...HOLDS,
      at: NEW,
      step: 'Failed',
      reason: 'TimedOut',
    });
    expect(upkeepOf(running(late, refOf(NEW)), { progress })).toBe('Settle');
    expect(upkeepOf(running(late, refOf(OLD)), { progress })).toBe('');
  });

  it('ROL-11 ROL-35 frees it in a rollback, too, which may wait for that place for ever', () => {
    const another = appRevision('3');
    const late = reporting('WaitingForDrain', { ...HOLDS, at: another, step: 'Failed', reason: 'TimedOut' });
    const bad = member('n', { at: NEW, batch: 1 });
    const rollout = { maxUnavailable: 1, failure: { ...PAUSES.failure, onFailure: 'RollbackAll' } } as const;
    const input = observedInput({ rollout, members: [late, bad], progress: GOES_BACK_NOW });
    const { actions, limit } = planRollout(input);
    expect([limit.reason, doneBy({ actions })]).toEqual(['TooManyUnavailable', 'Settle']);
    const begun = reporting('Activating', { ...HOLDS, at: another, step: 'Failed', reason: 'TimedOut' });
    expect(upkeepOf(begun, { rollout, progress: GOES_BACK_NOW })).toBe('');
  });

  it('ROL-40 settles the grant of a machine that left', () => {
    expect(actionOf(HOLDS, { left: true })).toBe('Settle Succeeded');
  });

  it.each<[what: string, state: ReportState, parts: StateParts, expected: string]>([
    ['that its agent waits for', 'WaitingForGrant', { reason: 'GrantNeeded' }, 'Settle Unused'],
    ['that its agent has begun with', 'Activating', {}, 'Permit'],
    ['of which its agent knows nothing yet', 'WaitingForGrant', { reason: 'NotObserved' }, ''],
    ['that is in its entries', 'WaitingForGrant', { grantEndsAt: new Date(ago(-240)) }, ''],
  ])('ROL-35 ends a grant that was not written before the set was deleted or paused: %s', (...row) => {
    const [, state, parts, expected] = row;
    const each = reporting(state, { grant: grant(), holdsGrant: true, step: 'InWork', at: NEW, ...parts });
    const outcomes = [{ left: [each] }, { members: [each], paused: true }].map((situation) =>
      planUpkeep(inputOf(situation), NONE)
        .map((action) => (action.type === 'Settle' ? `Settle ${action.outcome}` : action.type))
        .join(),
    );
    expect(outcomes).toEqual([expected, expected]);
    expect(upkeepOf(each, {})).toBe(expected === '' ? '' : 'Permit');
  });

  it('leaves the grant of a machine that gets other entries now', () => {
    expect(actionOf(HOLDS, { changing: new Set(['m']) })).toBe('');
  });

  it('ROL-10 settles the grant of a machine that was deleted', () => {
    const input = inputOf({ deleted: [{ machine: 'm', grant: grant() }] });
    expect(planUpkeep(input, NONE)).toEqual([
      {
        type: 'Release',
        machine: 'm',
        grant: grant(),
        outcome: 'Ambiguous',
        because: 'Machine m was deleted',
      },
    ]);
  });
});
