/** ROL-22: a change of a set that loosens the gate by which it is judged begins no batch. */
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../src/api/generated/types.ts';
import { planRollout } from '../../../src/controllers/componentset/plan.ts';
import type { RolloutPlan, RolloutProgress } from '../../../src/controllers/componentset/rollout/input.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { NOW } from '../../support/builders.ts';
import { ROLLOUT } from './component-set.ts';
import {
  askingCheck,
  type InputParts,
  inputOf,
  member,
  NEW,
  OLD,
  progressOf,
} from './rollout/rollout-input.ts';

type Gate = Partial<Rollout['gate']>;

const { batch: _batch, ...BEGIN } = progressOf();
const [ERRORS, LATENCY] = [askingCheck('errors'), askingCheck('latency')];
/** The version of the components is not part of the spec of these sets, so something else stands for it. */
const CHANGED = { preferUnhealthy: false };

function plan(parts: InputParts): RolloutPlan {
  return planRollout(inputOf({ members: [member('a'), member('b'), member('c')], ...parts }));
}

function rolloutOf(gate: Gate, more: InputParts['rollout'] = {}): NonNullable<InputParts['rollout']> {
  return { ...more, gate: { ...ROLLOUT.gate, ...gate } };
}

function started({ actions }: RolloutPlan): readonly string[] {
  return actions.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : []));
}

/** What a set remembers whose last reconcile saw this gate. */
function after(gate: Gate): Pick<RolloutProgress, 'gateInForce'> {
  const { progress } = plan({
    desired: { revision: OLD, yanked: [] },
    progress: BEGIN,
    rollout: rolloutOf(gate),
  });
  return optional('gateInForce', progress.gateInForce);
}

function planAfter(gate: Gate, now: InputParts): RolloutPlan {
  return plan({ progress: { ...BEGIN, ...after(gate) }, ...now });
}

describe('a change of a set that loosens its gate', () => {
  it.each<[what: string, before: Gate, now: InputParts['rollout'], loosened: string | undefined]>([
    [
      'drops a check',
      { checks: [ERRORS, LATENCY] },
      rolloutOf({ checks: [ERRORS] }, CHANGED),
      'check latency removed',
    ],
    [
      'changes a check',
      { checks: [ERRORS] },
      rolloutOf({ checks: [{ ...ERRORS, failureLimit: 3 }] }, CHANGED),
      'check errors changed',
    ],
    [
      'renames a check',
      { checks: [ERRORS] },
      rolloutOf({ checks: [{ ...ERRORS, name: 'faults' }] }, CHANGED),
      'check errors removed',
    ],
    [
      'soaks shorter',
      { soakSeconds: 300 },
      rolloutOf({ soakSeconds: 60 }, CHANGED),
      'soakSeconds 60 instead of 300',
    ],
    [
      'asks for less approval',
      { approval: 'EveryBatch' },
      rolloutOf({ approval: 'FirstBatch' }, CHANGED),
      'approval FirstBatch instead of EveryBatch',
    ],
    [
      'drops everything',
      { checks: [ERRORS], approval: 'FirstBatch' },
      rolloutOf({ soakSeconds: 0 }, CHANGED),
      'check errors removed, soakSeconds 0 instead of 300, approval None instead of FirstBatch',
    ],
    ['adds a check', { checks: [ERRORS] }, rolloutOf({ checks: [LATENCY, ERRORS] }, CHANGED), undefined],
    [
      'soaks longer and asks',
      {},
      rolloutOf({ soakSeconds: 900, approval: 'FirstBatch' }, CHANGED),
      undefined,
    ],
    ['keeps the gate', { checks: [ERRORS] }, rolloutOf({ checks: [ERRORS] }, CHANGED), undefined],
    ['changes the gate alone', { checks: [ERRORS] }, rolloutOf({ soakSeconds: 60 }), undefined],
    [
      'is approved by a person',
      { checks: [ERRORS] },
      rolloutOf({}, { approved: { revision: NEW.name, throughBatch: 1 } }),
      undefined,
    ],
  ])('ROL-22 waits, or goes on, where it %s', (_, before, rollout, loosened) => {
    const found = planAfter(before, { ...(rollout && { rollout }) });
    const { reason, because } = found.limit;
    expect([started(found).length > 0, reason, reason === 'GateLoosened' && because]).toEqual(
      loosened === undefined
        ? [true, 'BatchFull', false]
        : [false, 'GateLoosened', `the last change of the set also loosened its gate: ${loosened}`],
    );
  });

  it('ROL-22 waits in later reconciles, until the gate is as it was or the set is changed again', () => {
    const loose = rolloutOf({}, CHANGED);
    const first = planAfter({ checks: [ERRORS] }, { rollout: loose });
    const again = plan({ progress: first.progress, rollout: loose });
    expect([again.limit.reason, again.progress.gateInForce]).toEqual([
      'GateLoosened',
      first.progress.gateInForce,
    ]);
    const restored = plan({ progress: again.progress, rollout: rolloutOf({ checks: [ERRORS] }, CHANGED) });
    expect(started(restored).length).toBeGreaterThan(0);
    const confirmed = plan({ progress: again.progress, rollout: loose, retryToken: 'as meant' });
    expect(started(confirmed).length).toBeGreaterThan(0);
  });

  it('ROL-22 keeps what each of two changes loosened', () => {
    const first = planAfter({ checks: [ERRORS] }, { rollout: rolloutOf({ checks: [LATENCY] }, CHANGED) });
    const second = plan({
      progress: first.progress,
      rollout: rolloutOf({}, { preferUnhealthy: true, maxUnavailable: 4 }),
    });
    expect(second.limit.because).toContain('check errors removed, check latency removed');
  });

  it('ROL-22 remembers no more checks than its status may have, whatever changes remove', () => {
    let progress: RolloutProgress = { ...BEGIN, ...after({ checks: [] }) };
    for (const [index, round] of ['x', 'y', 'z'].entries()) {
      const checks = Array.from({ length: 16 }, (_, each) => askingCheck(`${round}-${each}`));
      progress = plan({ progress, rollout: rolloutOf({ checks }, { maxUnavailable: 10 + index }) }).progress;
    }
    const names = progress.gateInForce?.checks.map(({ name }) => name) ?? [];
    expect([names.length, names[0], names.at(-1)]).toEqual([32, 'x-0', 'y-15']);
  });

  it('ROL-22 lets machines in work finish, and begins no other of the open batch', () => {
    const inWork = member('a', { at: NEW, batch: 1, step: 'InWork', holdsGrant: true });
    const members = [inWork, member('b'), member('c')];
    const open = progressOf({ ...after({ checks: [ERRORS] }) });
    const found = plan({ members, progress: open, rollout: rolloutOf({}, CHANGED) });
    expect([started(found), found.limit.reason, found.waiting.get('b')?.reason]).toEqual([
      [],
      'GateLoosened',
      'GateLoosened',
    ]);
  });

  it('ROL-22 has its own gate in force once its rollout is complete', () => {
    const members = ['a', 'b'].map((name) => member(name, { at: NEW, batch: 1 }));
    const batch = { index: 1, size: 2, total: 2, startedAt: NOW, soakUntil: NOW };
    const progress = progressOf({ batch, ...after({ checks: [ERRORS] }) });
    const found = plan({ members, progress, rollout: rolloutOf({}, CHANGED) });
    expect([found.limit.reason, found.progress.gateInForce?.checks]).toEqual(['AllDone', []]);
  });

  it.each<[what: string, parts: InputParts]>([
    ['while it cannot be resolved', { desired: { problems: [{ reason: 'NotFound', because: 'app 2' }] } }],
    ['while the set is paused', { paused: true }],
  ])('ROL-22 stays judged by the gate before it %s, and after it', (_, parts) => {
    const rollout = rolloutOf({}, CHANGED);
    const blocked = planAfter({ checks: [ERRORS] }, { ...parts, rollout });
    const resumed = plan({ rollout, progress: blocked.progress });
    expect([started(resumed), resumed.limit.reason]).toEqual([[], 'GateLoosened']);
  });

  it('ROL-33 goes back to a completed revision, whatever the revert does to the gate', () => {
    const members = [member('a', { at: NEW, batch: 1 }), member('b')];
    const found = planAfter(
      { checks: [ERRORS] },
      { members, desired: { revision: OLD, yanked: [] }, rollout: rolloutOf({}, CHANGED) },
    );
    expect([found.mode, started(found)]).toEqual(['Revert', ['a']]);
  });
});
