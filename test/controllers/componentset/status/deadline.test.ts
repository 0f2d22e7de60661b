import { describe, expect, it } from 'vitest';
import { progressDeadline } from '../../../../src/controllers/componentset/status/deadline.ts';
import { ago, condition, machine, NOW } from '../../../support/builders.ts';
import { BATCH, COMPLETED, grant, member, NEW, progressOf } from '../rollout/rollout-input.ts';
import { BUDGET_WAIT, draining } from './draining.ts';
import { denied, message, type ReportParts, read, reportOf, statusOf } from './set-report.ts';

const LIMIT = 7200;
const DONE = { at: NEW, batch: 1 } as const;
const IN_WORK = {
  ...DONE,
  step: 'InWork',
  reason: 'Probation',
  because: 'app is Probation',
  holdsGrant: true,
  grant: grant(),
} as const;
const ONE = progressOf({ batch: { ...BATCH, size: 1 } });
const SOAKED = progressOf({ batch: { ...BATCH, size: 1, soakUntil: new Date(ago(1)) } });
const JOB = { kind: 'RemedyOperationJob', name: 'repair-1' } as const;

interface Blocked extends ReportParts {
  readonly name: string;
  /** Kind and name of the object. */
  readonly blocker: string;
  readonly reason: string;
}

const BLOCKERS: readonly Blocked[] = [
  {
    name: 'a component that is not found',
    members: [member('a')],
    desired: {
      problems: [
        {
          reason: 'ComponentNotFound',
          because: 'app-2 was not found',
          blocker: { kind: 'MachineComponent', name: 'app-2' },
        },
      ],
    },
    blocker: 'MachineComponent app-2',
    reason: 'ComponentNotFound',
  },
  {
    name: 'a policy that denies every machine',
    members: [member('a')],
    progress: progressOf({ batch: { ...BATCH, index: 0, size: 1 } }),
    denials: [denied('a')],
    blocker: 'DefenderPolicy fleet-default',
    reason: 'GrantDenied',
  },
  {
    name: 'a denial that no policy made',
    members: [member('a')],
    progress: progressOf({ batch: { ...BATCH, index: 0, size: 1 } }),
    denials: [
      {
        machine: 'a',
        denial: {
          granted: false,
          reason: 'LedgerUnavailable',
          message: 'the ledger is not written',
          also: [],
        },
      },
    ],
    blocker: 'Machine a',
    reason: 'GrantDenied',
  },
  {
    name: 'a repair in work',
    members: [member('a', { grant: grant({ holder: JOB, action: 'Reboot' }) })],
    progress: progressOf({ batch: { ...BATCH, index: 0, size: 1 } }),
    blocker: 'RemedyOperationJob repair-1',
    reason: 'MachineBusy',
  },
  {
    name: 'a silent agent that is next',
    members: [member('a', { isSilent: true })],
    progress: progressOf({ batch: { ...BATCH, index: 0, size: 1 } }),
    blocker: 'Machine a',
    reason: 'AgentSilent',
  },
  {
    name: 'a silent agent in the open batch',
    members: [member('a', { ...DONE, step: 'Unknown', reason: 'AgentSilent', isSilent: true }), member('b')],
    progress: ONE,
    blocker: 'Machine a',
    reason: 'AgentSilent',
  },
  {
    name: 'a machine in work without an end',
    members: [member('a', IN_WORK), member('b')],
    progress: ONE,
    blocker: 'Machine a',
    reason: 'Probation',
  },
  {
    name: 'a budget that permits no eviction',
    members: [draining('a', BUDGET_WAIT), member('b')],
    progress: ONE,
    blocker: 'PodDisruptionBudget web',
    reason: 'PodDisruptionBudget',
  },
  {
    name: 'a check that has no result yet',
    members: [member('a', DONE), member('b')],
    progress: SOAKED,
    gate: { state: 'Waiting' },
    blocker: 'MachineComponentSet general',
    reason: 'GateOpen',
  },
  {
    name: 'machines that are out of service for another cause',
    members: [member('a', { ...DONE, batch: 0, step: 'Unhealthy', serves: false }), member('b')],
    progress: progressOf({ batch: { ...BATCH, size: 1 } }),
    rollout: { maxUnavailable: 1, preferUnhealthy: false },
    blocker: 'Machine a',
    reason: 'TooManyUnavailable',
  },
  {
    name: 'a conflict with another set',
    members: [member('a', DONE)],
    progress: progressOf({ history: [{ revision: NEW.name, result: 'Completed' }] }),
    conflicts: [
      {
        machine: machine('x'),
        conflict: {
          reason: 'SetConflict',
          because: 'sets general and other both select machine x',
          blocker: { kind: 'MachineComponentSet', name: 'other' },
        },
      },
    ],
    blocker: 'MachineComponentSet other',
    reason: 'SetConflict',
  },
  {
    name: 'a machine that does not come back in a rollback',
    members: [member('a', { isSilent: true, ...DONE, serves: false })],
    progress: progressOf({ history: [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] }),
    blocker: 'Machine a',
    reason: 'AgentSilent',
  },
];

/** The same situation as before, for that long. */
function after(seconds: number, { name: _name, blocker: _blocker, reason: _reason, ...parts }: Blocked) {
  const before = statusOf(parts);
  return statusOf({ ...parts, before, now: new Date(+NOW + seconds * 1000) });
}

describe('lastProgress', () => {
  it.each(BLOCKERS)('ROL-36 stalls with the blocking object after the deadline: $name', (row) => {
    expect(read(after(LIMIT - 1, row), 'Stalled')).toBe('False AsWanted');
    const stalled = after(LIMIT, row);
    expect(read(stalled, 'Stalled')).toBe('True ProgressDeadlineExceeded');
    expect(`${stalled.waiting?.blocker?.kind} ${stalled.waiting?.blocker?.name}`).toBe(row.blocker);
    expect(stalled.waiting?.reason).toBe(row.reason);
    expect(message(stalled, 'Stalled')).toContain(`no progress since ${NOW.toISOString()}: ${row.reason}`);
    expect(message(stalled, 'Stalled')).toContain(`${row.blocker}: `);
    expect(stalled.phase).toBe(row.conflicts ? 'Conflict' : 'Stalled');
  });

  it.each<ReportParts & { readonly name: string }>([
    { name: 'a pause', members: [member('a')], paused: true },
    {
      name: 'an approval that is missing',
      members: [member('a', DONE), member('b')],
      progress: SOAKED,
      rollout: { gate: { soakSeconds: 1, checks: [], approval: 'EveryBatch' } },
    },
    {
      name: 'a freeze',
      members: [member('a', DONE), member('b')],
      progress: SOAKED,
      rollout: { freezes: [{ name: 'sale', from: ago(60), until: ago(-10 * LIMIT), reason: 'sale' }] },
    },
    {
      name: 'a soak longer than the deadline',
      members: [member('a', DONE), member('b')],
      progress: progressOf({ batch: { ...BATCH, size: 1, soakUntil: new Date(ago(-10 * LIMIT)) } }),
    },
    {
      name: 'a set at its end',
      members: [member('a', DONE)],
      progress: progressOf({ history: [{ revision: NEW.name, result: 'Completed' }] }),
    },
  ])('ROL-36 has no deadline during $name', ({ name: _name, ...parts }) => {
    const before = statusOf(parts);
    expect(before.progressedAt).toBeUndefined();
    const later = statusOf({ ...parts, before, now: new Date(+NOW + LIMIT * 1000) });
    expect(read(later, 'Stalled')).toBe('False AsWanted');
  });

  it('ROL-36 begins again with each machine that is done, and ends a stall', () => {
    const members = [member('a', IN_WORK), member('b', IN_WORK), member('c')];
    const before = { ...statusOf({ members }), progressedAt: ago(LIMIT) };
    const conditions = [condition('Stalled', 'True')];
    const same = statusOf({ members, before });
    expect([same.progressedAt, read(same, 'Stalled')]).toEqual([
      new Date(ago(LIMIT)).toISOString(),
      'True ProgressDeadlineExceeded',
    ]);
    const moved = statusOf({
      members: [member('a', DONE), ...members.slice(1)],
      before: { ...before, conditions },
    });
    expect([moved.progressedAt, read(moved, 'Stalled')]).toEqual([NOW.toISOString(), 'False AsWanted']);
  });

  it('ROL-36 never takes a machine that loses its health for progress', () => {
    const before = {
      ...statusOf({ members: [member('a', DONE), member('b', IN_WORK), member('c')] }),
      progressedAt: ago(100),
    };
    const unhealthy = { ...DONE, step: 'Unknown', reason: 'NodeUnknown' } as const;
    const status = statusOf({ members: [member('a', unhealthy), member('b', IN_WORK), member('c')], before });
    expect(status.progressedAt).toBe(new Date(ago(100)).toISOString());
  });

  it('ROL-36 counts the machines that go back as the progress of a rollback', () => {
    const progress = progressOf({ history: [{ revision: NEW.name, result: 'RolledBack' }, COMPLETED] });
    const failed = { ...DONE, step: 'Failed', reason: 'RolledBack' } as const;
    const before = {
      ...statusOf({ progress, members: [member('a', failed), member('b', failed)] }),
      progressedAt: ago(100),
    };
    const status = statusOf({ progress, members: [member('a'), member('b', failed)], before });
    expect(status.progressedAt).toBe(NOW.toISOString());
  });
});

describe('progressDeadline', () => {
  it('ROL-36 is when the set has to be looked at again', () => {
    const { set } = reportOf({ members: [] }).input;
    expect(progressDeadline(set, new Date(ago(200)))).toEqual(new Date(ago(200 - LIMIT)));
  });
});
