/** ROL-13, S36: closed times of a set stop the next machine, whatever the rollout is at. */
import { describe, expect, it } from 'vitest';
import type { Freeze, Window } from '../../../src/api/generated/types.ts';
import { planRollout } from '../../../src/controllers/componentset/plan.ts';
import type { RolloutPlan } from '../../../src/controllers/componentset/rollout/input.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { NOW } from '../../support/builders.ts';
import {
  grant,
  type InputParts,
  member,
  NEW,
  OLD,
  observedInput,
  progressOf,
} from './rollout/rollout-input.ts';

const HOUR_MS = 3_600_000;
const UNTIL = new Date(+NOW + HOUR_MS).toISOString();
const SALE: Freeze = {
  name: 'sale',
  from: new Date(+NOW - HOUR_MS).toISOString(),
  until: UNTIL,
  reason: 'sale',
};
const OVER: Freeze = { ...SALE, until: NOW.toISOString() };

function timeIn(hours: number): string {
  return new Date(+NOW + hours * HOUR_MS).toISOString().slice(11, 16);
}

/** Open from so many hours after NOW, for one hour. */
function windowIn(hours: number): Window {
  return { name: 'night', start: timeIn(hours), end: timeIn(hours + 1), timeZone: 'UTC' };
}

const BEGIN = progressOf({ batch: undefined as never });
const IN_WORK = { at: NEW, batch: 1, step: 'InWork', holdsGrant: true, grant: grant() } as const;

function plan(parts: InputParts): RolloutPlan {
  return planRollout(observedInput({ members: [member('a'), member('b'), member('c')], ...parts }));
}

function started({ actions }: RolloutPlan): readonly string[] {
  return actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []));
}

/** Plans a set whose last reconcile saw these closed times, in the spec that it has then, and after it the declared ones. */
function planAfter(before: InputParts['rollout'], now: InputParts, progress = BEGIN): RolloutPlan {
  const { batch: _batch, ...rest } = progress;
  const first = plan({ desired: { revision: OLD, yanked: [] }, progress: rest, rollout: { ...before } });
  return plan({ ...now, progress: { ...rest, ...optional('closedTimes', first.progress.closedTimes) } });
}

/** The version of the components is not part of the spec of these sets, so something else stands for it. */
const CHANGED = { maxUnavailable: 1 };

describe('a change of a set that loosens its closed times', () => {
  it.each<
    [what: string, before: InputParts['rollout'], now: InputParts['rollout'], reason: string | undefined]
  >([
    ['drops the freeze with the change', { freezes: [SALE] }, CHANGED, 'Freeze'],
    ['ends the freeze with the change', { freezes: [SALE] }, { ...CHANGED, freezes: [OVER] }, 'Freeze'],
    ['drops the window with the change', { windows: [windowIn(1)] }, CHANGED, 'OutsideWindow'],
    [
      'opens the window with the change',
      { windows: [windowIn(1)] },
      { ...CHANGED, windows: [windowIn(0)] },
      'OutsideWindow',
    ],
    ['adds a freeze with the change', {}, { ...CHANGED, freezes: [SALE] }, 'Freeze'],
    ['drops the freeze alone', { freezes: [SALE] }, {}, undefined],
    ['drops a freeze that is over', { freezes: [OVER] }, CHANGED, undefined],
    ['changes something else', { windows: [windowIn(0)] }, { ...CHANGED, windows: [windowIn(0)] }, undefined],
    [
      'is approved by a person',
      { freezes: [SALE] },
      { approved: { revision: NEW.name, throughBatch: 1 } },
      undefined,
    ],
  ])('S36 is judged by those in force before it: %s', (_, before, rollout, reason) => {
    const found = planAfter(before, { rollout: { ...rollout } });
    expect([started(found).length > 0, found.limit.reason]).toEqual([
      reason === undefined,
      reason ?? 'BatchFull',
    ]);
  });

  it('S36 tells that the freeze is that of before, and until when', () => {
    const { limit } = planAfter({ freezes: [SALE] }, { rollout: CHANGED });
    expect(limit.because).toBe(
      `freeze sale until ${UNTIL}: sale (in force before the last change of the set)`,
    );
    expect(limit.until).toEqual(new Date(UNTIL));
  });

  it('S36 is still judged by them in later reconciles, and the change after it is not', () => {
    const first = planAfter({ freezes: [SALE] }, { rollout: CHANGED });
    const again = plan({ rollout: CHANGED, progress: first.progress });
    expect([again.limit.reason, again.progress.closedTimes]).toEqual(['Freeze', first.progress.closedTimes]);
    const next = plan({ rollout: { maxUnavailable: 2 }, progress: again.progress });
    expect([started(next).length > 0, next.progress.closedTimes]).toEqual([true, undefined]);
  });

  it('S36 keeps what each of two changes removed', () => {
    const hour = new Date(+NOW + 2 * HOUR_MS).toISOString();
    const other = { ...SALE, name: 'other', until: hour };
    const first = planAfter({ freezes: [SALE] }, { rollout: { ...CHANGED, freezes: [other] } });
    const second = plan({ rollout: { maxUnavailable: 2 }, progress: first.progress });
    expect(second.progress.closedTimes?.freezes.map(({ name }) => name)).toEqual(['sale', 'other']);
    expect(second.limit).toMatchObject({ reason: 'Freeze', until: new Date(hour) });
  });

  it('S36 has its own times in force once its rollout is complete', () => {
    const judged = planAfter({ freezes: [SALE] }, { rollout: CHANGED }).progress;
    const members = ['a', 'b'].map((name) => member(name, { at: NEW, batch: 1 }));
    const soaked = progressOf({ batch: { index: 1, size: 2, total: 2, startedAt: NOW, soakUntil: NOW } });
    const progress = { ...soaked, ...optional('closedTimes', judged.closedTimes) };
    const found = plan({ members, progress, rollout: CHANGED });
    expect([found.limit.reason, found.progress.closedTimes]).toEqual(['AllDone', undefined]);
  });

  it.each<[what: string, parts: InputParts]>([
    ['while it cannot be resolved', { desired: { problems: [{ reason: 'NotFound', because: 'app 2' }] } }],
    ['while the set is paused', { paused: true }],
  ])('S36 stays judged by them %s, and after it', (_, parts) => {
    const blocked = planAfter({ freezes: [SALE] }, { ...parts, rollout: CHANGED });
    expect(blocked.progress.closedTimes?.freezes).toEqual([SALE]);
    const resumed = plan({ rollout: CHANGED, progress: blocked.progress });
    expect([started(resumed), resumed.limit.reason]).toEqual([[], 'Freeze']);
  });

  it('ROL-33 goes back to a completed revision whatever is in force', () => {
    const members = [member('a', { at: NEW, batch: 1 }), member('b')];
    const back = { members, desired: { revision: OLD, yanked: [] }, rollout: CHANGED };
    const found = planAfter({ freezes: [SALE] }, back);
    expect([found.mode, started(found)]).toEqual(['Revert', ['a']]);
  });
});

describe('a set with closed times', () => {
  it.each<[what: string, rollout: InputParts['rollout'], reason: string | undefined]>([
    ['no closed times', {}, undefined],
    ['a freeze', { freezes: [SALE] }, 'Freeze'],
    ['a freeze that is over', { freezes: [OVER] }, undefined],
    ['a closed window', { windows: [windowIn(1)] }, 'OutsideWindow'],
    ['an open window', { windows: [windowIn(0)] }, undefined],
    ['an open window during a freeze', { windows: [windowIn(0)], freezes: [SALE] }, 'Freeze'],
    ['a window in an unknown zone', { windows: [{ ...windowIn(0), timeZone: 'Mars' }] }, 'InvalidWindow'],
  ])('ROL-13 begins a rollout, or states why not, with %s', (_, rollout, reason) => {
    const { batch: _batch, ...progress } = BEGIN;
    const found = plan({ ...(rollout && { rollout }), progress });
    expect(started(found).length > 0).toBe(reason === undefined);
    expect(found.limit.reason).toBe(reason ?? 'BatchFull');
  });

  it('ROL-13 names until when, so that the next reconcile is in time', () => {
    expect(plan({ rollout: { freezes: [SALE] } }).limit.until).toEqual(new Date(UNTIL));
  });

  it('ROL-13 lets machines in work finish, and starts no other of the open batch', () => {
    const members = [member('a', IN_WORK), member('b'), member('c')];
    const open = plan({ members });
    expect(started(open)).toEqual(['b']);
    const closed = plan({ members, rollout: { freezes: [SALE] } });
    expect(started(closed)).toEqual([]);
    expect(closed.actions.map(({ type }) => type)).toEqual([
      'Persist',
      ...open.actions.map(({ type }) => type).filter((type) => type !== 'Assign'),
    ]);
    expect(closed.waiting.get('b')?.reason).toBe('Freeze');
    const next = plan({ members, rollout: { freezes: [SALE] }, progress: closed.progress });
    expect(next.actions.map(({ type }) => type)).toEqual(['Permit']);
  });

  it('ROL-13 opens no next batch after one that has passed', () => {
    const done = ['a', 'b'].map((name) => member(name, { at: NEW, batch: 1 }));
    const soaked = progressOf({ batch: { index: 1, size: 2, total: 3, startedAt: NOW, soakUntil: NOW } });
    const parts = { members: [...done, member('c')], progress: soaked };
    expect(started(plan(parts))).toEqual(['c']);
    const closed = plan({ ...parts, rollout: { windows: [windowIn(2)] } });
    expect([started(closed), closed.limit.reason]).toEqual([[], 'OutsideWindow']);
  });

  it('ROL-13 completes a rollout whose machines are all done', () => {
    const members = ['a', 'b'].map((name) => member(name, { at: NEW, batch: 1 }));
    const soaked = progressOf({ batch: { index: 1, size: 2, total: 2, startedAt: NOW, soakUntil: NOW } });
    const found = plan({ members, progress: soaked, rollout: { freezes: [SALE] } });
    expect(found.progress.history[0]).toMatchObject({ revision: NEW.name, result: 'Completed' });
  });

  it('ROL-33 takes machines back to a completed revision in a freeze', () => {
    const members = [member('a', { at: NEW, batch: 1 }), member('b')];
    const found = plan({
      members,
      desired: { revision: OLD, yanked: [] },
      rollout: { freezes: [SALE], windows: [windowIn(1)] },
    });
    expect([found.mode, started(found)]).toEqual(['Revert', ['a']]);
  });

  it('ROL-13 gives a machine that never served its components, and lets one that returns wait', () => {
    const members = [
      member('new', { at: 'None', isEstablished: false, serves: false }),
      member('returned', { at: OLD }),
    ];
    const { batch: _batch, ...rest } = progressOf();
    const progress = { ...rest, history: [{ revision: NEW.name, result: 'Completed' as const }] };
    const parts = { members, progress, stable: NEW };
    expect(started(plan(parts))).toEqual(['new', 'returned']);
    const closed = plan({ ...parts, rollout: { freezes: [SALE] } });
    expect(started(closed)).toEqual(['new']);
    expect(closed.limit.reason).toBe('Freeze');
    expect(closed.waiting.get('returned')?.reason).toBe('Freeze');
  });

  it('ROL-33 takes a machine that was away off a revision that was rolled back, also in a freeze', () => {
    const { batch: _batch, ...rest } = progressOf({ updateRevision: OLD.name });
    const history = [
      { revision: OLD.name, result: 'Completed' as const },
      { revision: NEW.name, result: 'RolledBack' as const, finishedAt: SALE.from },
    ];
    const found = plan({
      members: [member('returned', { at: NEW })],
      desired: { revision: OLD, yanked: [] },
      progress: { ...rest, history },
      stable: OLD,
      rollout: { freezes: [SALE] },
    });
    expect([found.mode, started(found)]).toEqual(['Steady', ['returned']]);
  });
});
