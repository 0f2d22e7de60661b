import { describe, expect, it } from 'vitest';
import {
  WAIT_KINDS,
  type WaitKind,
  waitKinds,
} from '../../../../src/controllers/componentset/status/wait-kind.ts';
import { BATCH, COMPLETED, grant, member, progressOf } from '../rollout/rollout-input.ts';
import { BUDGET_WAIT, draining } from './draining.ts';
import { denied, type ReportParts, reportOf } from './set-report.ts';
import { DIFFERS, DONE, FAILED, IN_WORK, SITUATIONS, SOAKED } from './situations.ts';

const PAUSE = { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } } as const;
const FIRST = progressOf({ batch: { ...BATCH, index: 0, size: 1 } });
const ONE = progressOf({ batch: { ...BATCH, size: 1 } });

/** Of machine a. */
const FIXTURES: Readonly<Record<WaitKind, ReportParts>> = {
  Queued: { members: [member('a'), member('b', IN_WORK)], progress: ONE },
  NoGrant: { members: [member('a')], progress: FIRST, denials: [denied('a')] },
  Gate: {
    members: [member('a'), member('b', DONE)],
    progress: progressOf({ batch: { ...SOAKED, size: 1 } }),
    gate: { state: 'Waiting' },
  },
  Held: { members: [member('a', { hold: { reason: 'mine', scope: 'All' } }), member('b', IN_WORK)] },
  Pinned: { members: [member('a', { pinned: ['app'] }), member('b', IN_WORK)] },
  HostDiffers: { members: [member('a', DIFFERS), member('b', IN_WORK)] },
  AgentSilent: { members: [member('a', { isSilent: true }), member('b', IN_WORK)] },
  WaitingForDrain: { members: [draining('a', BUDGET_WAIT)] },
  Failed: { members: [member('a', FAILED), member('b', DONE), member('c')], rollout: PAUSE },
  Paused: { members: [member('a')], paused: true },
  Stopped: { members: [member('a'), member('b', FAILED), member('c', DONE)], rollout: PAUSE },
  Blocked: {
    members: [member('a')],
    desired: { problems: [{ reason: 'ComponentNotFound', because: 'app-3 was not found' }] },
  },
  InWork: { members: [member('a', IN_WORK)] },
};

describe('waitKinds', () => {
  it.each(WAIT_KINDS)('ROL-61 has a fixture for the reason %s', (kind) => {
    expect(waitKinds(reportOf(FIXTURES[kind])).get('a')).toBe(kind);
  });

  it.each<[name: string, parts: ReportParts, kind: WaitKind]>([
    [
      'a repair in work',
      {
        members: [member('a', { grant: grant({ holder: { kind: 'RemedyOperationJob', name: 'r' } }) })],
        progress: FIRST,
      },
      'NoGrant',
    ],
    [
      'a revision that was rolled back',
      {
        members: [member('a')],
        progress: progressOf({
          history: [{ revision: 'r-x', result: 'RolledBack' }, COMPLETED],
          batch: BATCH,
        }),
        paused: true,
      },
      'Paused',
    ],
    [
      'a batch before it that has proven nothing',
      {
        members: [member('a'), member('b', DIFFERS)],
        progress: progressOf({ batch: { ...SOAKED, size: 1 } }),
      },
      'Stopped',
    ],
    [
      'a silent agent in the open batch',
      { members: [member('a', { ...DONE, step: 'Unknown', reason: 'AgentSilent' })] },
      'AgentSilent',
    ],
    [
      'a machine that became unhealthy',
      { members: [member('a', { ...DONE, batch: 0, step: 'Unhealthy', reason: 'NodeNotReady' })] },
      'Failed',
    ],
  ])('ROL-61 has one reason for %s', (_name, parts, kind) => {
    expect(waitKinds(reportOf(parts)).get('a')).toBe(kind);
  });

  it.each(SITUATIONS)('ROL-61 has exactly one reason for each machine that is not done: $name', (parts) => {
    const report = reportOf(parts);
    const { desired, members } = report.input;
    const target = 'revision' in desired ? desired.revision.name : 'none';
    const started = report.plan.actions.flatMap((action) =>
      action.type === 'Assign' ? [action.member.name] : [],
    );
    const open = members
      .filter(
        ({ name, revision, step }) => revision !== target || step !== 'Settled' || started.includes(name),
      )
      .map(({ name }) => name)
      .filter((name) => !started.includes(name) || report.denials.some((each) => each.machine === name));
    expect([...waitKinds(report).keys()].toSorted()).toEqual(open.toSorted());
  });
});
