import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import type { RolloutProgress } from '../../../../../src/controllers/componentset/rollout/input.ts';
import { planUpkeep } from '../../../../../src/controllers/componentset/rollout/upkeep/upkeep.ts';
import { ago } from '../../../../support/builders.ts';
import { appRevision, inputOf, NEW, OLD, progressOf, type StateParts } from '../rollout-input.ts';
import { HOLDS, type ReportState, reporting } from './reporting-member.ts';

describe('a drain that has not ended', () => {
  interface Situation {
    /** Seconds since then. */
    readonly paused?: number;
    readonly stopped?: boolean;
    readonly left?: boolean;
    readonly drain?: object;
    readonly state?: ReportState;
    readonly more?: StateParts;
  }

  function progressAt({ paused, stopped }: Situation): RolloutProgress {
    return progressOf({
      ...(paused === undefined ? {} : { pausedAt: new Date(ago(paused)) }),
      ...(stopped ? { stopped: { reason: 'FailureBudgetSpent', because: 'machines failed: 1' } } : {}),
    });
  }

  function withdrawn(situation: Situation): string {
    const { paused, left = false, drain, state = 'WaitingForDrain', more = {} } = situation;
    const draining = { ...HOLDS, at: NEW, step: 'InWork', reason: 'DrainPending', ...more } as const;
    const each = reporting(state, draining);
    const status = { ...each.machine.status, ...(drain ? { drain } : {}) } as typeof each.machine.status;
    const waiting = { ...each, machine: { ...each.machine, status } } as MemberState;
    const input = inputOf({
      paused: paused !== undefined,
      members: left ? [] : [waiting],
      left: left ? [waiting] : [],
      progress: progressAt(situation),
    });
    return planUpkeep(input, new Set())
      .map((action) =>
        action.type === 'Settle' ? `Settle ${action.outcome}: ${action.because}` : action.type,
      )
      .join();
  }

  const OLD_DRAIN = { grant: 'g', state: 'Cordoned', since: ago(300) };
  const GIVEN_UP = /^Settle Unused: its drain is given up: /;

  it.each<[what: string, situation: Situation]>([
    ['half a minute after a pause', { paused: 30, drain: OLD_DRAIN }],
    ['that the machine left', { left: true, drain: OLD_DRAIN }],
    ['that has not begun', { paused: 30 }],
    ['that has not begun when the machine leaves', { left: true }],
    ['that its rollout no longer waits for', { stopped: true, drain: OLD_DRAIN }],
    [
      'for what is left of an older update, which is not finished',
      { stopped: true, drain: OLD_DRAIN, more: { at: appRevision('3') } },
    ],
    ['that evicts pods', { paused: 30, drain: { ...OLD_DRAIN, state: 'Draining' } }],
  ])('ROL-35 is given up, and its grant with it: %s', (_what, situation) => {
    expect(withdrawn(situation)).toMatch(GIVEN_UP);
  });

  it.each<[what: string, situation: Situation]>([
    ['while nothing is paused', { drain: OLD_DRAIN }],
    [
      'that began just now, when its rollout stops',
      { stopped: true, drain: { ...OLD_DRAIN, since: ago(29) } },
    ],
    ['in the half minute after a pause', { paused: 29, drain: OLD_DRAIN }],
    ['that began just now', { paused: 300, drain: { ...OLD_DRAIN, since: ago(29) } }],
    ['that has ended', { paused: 300, drain: { ...OLD_DRAIN, state: 'Drained' } }],
    ['that has not begun in the half minute after a pause', { paused: 29 }],
    ['after which the agent has begun', { paused: 300, drain: OLD_DRAIN, state: 'Activating' }],
    ['for what the agent does not wait', { paused: 300, drain: OLD_DRAIN, more: { reason: 'Staged' } }],
    ['without a grant', { paused: 300, drain: OLD_DRAIN, more: { holdsGrant: false } }],
    ['of a restart at another revision than the one that stopped', { stopped: true, more: { at: OLD } }],
  ])('ROL-34 is not given up: %s', (_what, situation) => {
    expect(withdrawn(situation)).toBe('');
  });
});
