/** What a rollout does with one machine of its open batch, by all that is known of it. */
import { describe, expect, it } from 'vitest';
import { memberState } from '../../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../../src/controllers/componentset/plan.ts';
import { revisionOf } from '../../../src/controllers/componentset/revision/resolve.ts';
import type { OpenBatch } from '../../../src/controllers/componentset/rollout/input.ts';
import { ago, NOW, node } from '../../support/builders.ts';
import { type MemberParts, NEW, OLD, observed, SET } from './machine/members.ts';
import { inputOf, member } from './rollout/rollout-input.ts';

const BAD = { ...revisionOf([{ ...NEW, state: 'Present', parameters: {} }]), name: 'r-new' };
const STABLE = { ...revisionOf([{ ...OLD, state: 'Present', parameters: {} }]), name: 'r-old' };
const OPEN: OpenBatch = { index: 1, size: 1, total: 3, startedAt: new Date(ago(1200)) };
const COMPLETED = { revision: STABLE.name, result: 'Completed' } as const;

const PROBATION = { currentRef: OLD.componentRef, digest: OLD.digest, state: 'Probation' } as const;
const ROLLED_BACK = { ...PROBATION, state: 'RolledBack' } as const;
const NOT_READY = node('m-1', 'False');
const UNKNOWN = node('m-1', 'Unknown');

/** Stops: it counts against the budget, and none may fail. Back: it is given the revision before. Next: another machine is started. */
function outcome(parts: MemberParts, soak: { readonly isOver: boolean } = { isOver: true }): string {
  const context = {
    set: SET,
    components: new Set([NEW.name]),
    timeoutSeconds: 900,
    openBatch: { revision: BAD.name, index: OPEN.index, startedAt: OPEN.startedAt },
    now: NOW,
  };
  const batch = { ...OPEN, soakUntil: soak.isOver ? NOW : new Date(ago(-60)) };
  const { name } = observed().machine.metadata;
  const plan = planRollout(
    inputOf({
      rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackBatch' } },
      desired: { revision: BAD, yanked: [] },
      stable: STABLE,
      progress: { updateRevision: BAD.name, batch, history: [COMPLETED] },
      members: [memberState(observed(parts), context), member('other', { revision: STABLE.name } as object)],
    }),
  );
  const assigned = plan.actions.flatMap((action) => (action.type === 'Assign' ? [action] : []));
  const words = [
    plan.mode === 'RollingBack' ? 'Stops' : '',
    assigned.some((each) => each.member.name === name && each.revision.name === STABLE.name) ? 'Back' : '',
    assigned.some((each) => each.member.name === 'other') ? 'Next' : '',
  ];
  return words.filter(Boolean).join(' ') || `Holds ${plan.limit.reason}`;
}

describe('a machine of the open batch', () => {
  it.each<[what: string, parts: MemberParts, expected: string]>([
    ['its agent rolled back', { startedAgo: 60, report: ROLLED_BACK }, 'Stops Back'],
    ['its agent failed', { startedAgo: 60, report: { ...ROLLED_BACK, state: 'Failed' } }, 'Stops Back'],
    ['its agent rolled back, and its grant is settled', { report: ROLLED_BACK }, 'Stops Back'],
    [
      'its agent refuses what failed there before',
      {
        startedAgo: 60,
        report: { ...PROBATION, waiting: { reason: 'Denied', message: 'x', since: ago(5) } },
      },
      'Stops Back',
    ],
    ['it is not settled after the time limit', { startedAgo: 901, report: PROBATION }, 'Stops Back'],
    ['its Node is lost in the soak', { node: NOT_READY, readyChangedAgo: 10 }, 'Stops Back'],
    ['its Node is deleted in the soak', { node: 'None' }, 'Stops Back'],
    [
      'its Node is Unknown for longer than the time limit',
      { node: UNKNOWN, readyChangedAgo: 901 },
      'Stops Back',
    ],
    ['a process ended in the soak', { report: { running: false } }, 'Stops Back'],
    ['a probe fails in the soak', { report: { ready: false } }, 'Stops Back'],
    ['the patrol fails in the soak', { patrol: { result: 'Fail', because: 'restarts' } }, 'Stops Back'],
    ['its agent is silent for longer than the time limit', { startedAgo: 950, heardAgo: 901 }, 'Stops'],
    ['its agent was never heard since the batch began', { heardAgo: 'Never' }, 'Stops'],
    ['its agent is silent so long in the soak', { heardAgo: 901 }, 'Stops'],
  ])('ROL-31 has failed, and its rollout stops or goes back: %s', (_what, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
    expect(outcome(parts, { isOver: false })).toBe(expected);
  });

  it.each<[what: string, parts: MemberParts, expected: string]>([
    ['it has time left', { startedAgo: 899, report: PROBATION }, 'Holds Probation'],
    ['its agent is silent', { startedAgo: 950, heardAgo: 41, report: PROBATION }, 'Holds AgentSilent'],
    ['its agent is silent in the soak', { heardAgo: 899 }, 'Holds AgentSilent'],
    ['its agent was never heard', { startedAgo: 60, heardAgo: 'Never' }, 'Holds AgentSilent'],
    ['its Node is Unknown', { node: UNKNOWN, readyChangedAgo: 10 }, 'Holds NodeUnknown'],
    ['the patrol has no result', { patrol: { result: 'Unknown', because: 'x' } }, 'Holds PatrolUnknown'],
    ['a probe has not run', { report: { ready: undefined } as never }, 'Holds ProbesPending'],
    ['its agent has not acted yet', { startedAgo: 60, observedGeneration: 1 }, 'Holds NotObserved'],
    [
      'what failed is the version before',
      { startedAgo: 60, report: { ...ROLLED_BACK, desiredRef: OLD.componentRef } },
      'Holds RolledBack',
    ],
    ['its Node was lost before the batch', { node: NOT_READY, readyChangedAgo: 1201 }, 'Next'],
    ['it is settled', {}, 'Next'],
  ])('ROL-31 has not failed, and its rollout waits or goes on: %s', (_what, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
  });

  it('ROL-31 is taken back when it speaks again', () => {
    const progress = {
      updateRevision: BAD.name,
      batch: OPEN,
      history: [{ revision: BAD.name, result: 'RolledBack' }, COMPLETED] as const,
    };
    const back = (heardAgo: number): readonly string[] => {
      const context = { set: SET, components: new Set([NEW.name]), timeoutSeconds: 900, now: NOW };
      const members = [memberState(observed({ heardAgo }), context)];
      const input = inputOf({ desired: { revision: BAD, yanked: [] }, stable: STABLE, progress, members });
      return planRollout(input).actions.flatMap((action) =>
        action.type === 'Assign' ? [action.revision.name] : [],
      );
    };
    expect(back(901)).toEqual([]);
    expect(back(5)).toEqual([STABLE.name]);
  });
});
