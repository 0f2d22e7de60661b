import { describe, expect, it } from 'vitest';
import {
  describeFailures,
  failedMachines,
} from '../../../../src/controllers/componentset/status/failed-machines.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';
import { COMPLETED, member, NEW, OLD, progressOf } from '../rollout/rollout-input.ts';
import { message, reportOf, statusOf } from './set-report.ts';

const FAILED = {
  at: NEW,
  batch: 1,
  step: 'Failed',
  reason: 'RolledBack',
  because: 'app: probes fail',
} as const;
const STOP = { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } } as const;

describe('failedMachines', () => {
  it('ROL-30 names component, error and since when', () => {
    const report = {
      name: 'app',
      state: 'RolledBack',
      error: { code: 'ProbeFailed', message: 'probes fail' },
    } as const;
    const failed = {
      ...member('a', FAILED),
      machine: machine('a', { status: { components: [report] } }),
    };
    const entry = { name: 'a', component: 'app', code: 'ProbeFailed', message: 'app: probes fail' };
    expect(failedMachines(reportOf({ members: [failed] }))).toEqual([{ ...entry, since: NOW.toISOString() }]);
    const before = { failedMachines: [{ ...entry, since: ago(90) }] };
    expect(failedMachines(reportOf({ members: [failed], before }))).toEqual([{ ...entry, since: ago(90) }]);
  });

  it('ROL-30 names at most 20 machines, always the same ones', () => {
    const members = Array.from({ length: 30 }, (_, index) => member(`m-${index + 10}`, FAILED));
    const names = (list: typeof members) =>
      statusOf({ members: list, rollout: STOP }).failedMachines?.map(({ name }) => name);
    expect(names(members)).toHaveLength(20);
    expect(names(members.toReversed())).toEqual(names(members));
  });

  it('ROL-30 finds the commonest error among all machines that failed, not among those that are named', () => {
    const late = { ...FAILED, reason: 'TimedOut', because: 'not settled after 900 s' };
    const members = Array.from({ length: 50 }, (_, index) =>
      member(`m-${index + 10}`, index < 20 ? late : FAILED),
    );
    const status = statusOf({ members, rollout: STOP });
    expect(status.failedMachines?.map(({ code }) => code)).toEqual(
      Array.from({ length: 20 }, () => 'TimedOut'),
    );
    const found = message(status, 'Stalled');
    expect(found).toContain('RolledBack on 30 of 50: app: probes fail; machines: m-10, m-11, ');
    expect(found).toMatch(/m-28, m-29 and 30 more$/);
  });

  it.each<[what: string, finishedAt: string | undefined, holdsGrant: boolean]>([
    ['in work', undefined, true],
    ['ended', ago(1), false],
  ])(
    'ROL-32 names a machine that fails as it returns, when the rollback is %s',
    (_what, finishedAt, holdsGrant) => {
      const record = { revision: NEW.name, result: 'RolledBack', ...(finishedAt && { finishedAt }) } as const;
      const progress = progressOf({ history: [record, COMPLETED] });
      const failed = member('a', { ...FAILED, at: OLD, because: 'app: no answer', holdsGrant });
      const ready = message(statusOf({ members: [failed, member('b')], progress }), 'Ready');
      expect(ready).toContain(`machines that failed at app 1: 1. a: app: no answer`);
    },
  );

  it('ROL-32 still names them when all are back, until git gives another revision', () => {
    const known = { name: 'a', code: 'RolledBack', message: 'app: probes fail', since: ago(90) };
    const before = { failedMachines: [known], updateRevision: NEW.name };
    const history = [{ revision: NEW.name, result: 'RolledBack', finishedAt: ago(1) }, COMPLETED] as const;
    const back = statusOf({ members: [member('a')], progress: progressOf({ history }), before });
    expect(back.failedMachines).toEqual([known]);
    expect(message(back, 'Stalled')).toContain('RolledBack on 1 of 1: app: probes fail; machines: a');
    const other = { ...before, updateRevision: 'r-other' };
    expect(
      statusOf({ members: [member('a')], progress: progressOf({ history }), before: other }).failedMachines,
    ).toBeUndefined();
  });
});

const row = (name: string, code: string) => ({ name, code, message: `${code}!`, since: ago(1) });

describe('describeFailures', () => {
  it('ROL-30 gives the commonest error first', () => {
    const machines = [row('a', 'TimedOut'), row('b', 'RolledBack'), row('c', 'RolledBack')];
    expect(describeFailures(machines)).toBe('RolledBack on 2 of 3: RolledBack!; machines: a, b, c');
    expect(describeFailures([])).toBe('');
  });

  it('ROL-30 is in the message of Stalled', () => {
    const status = statusOf({ members: [member('a', FAILED), member('b')], rollout: STOP });
    expect(message(status, 'Stalled')).toBe(
      'machines failed: 1, allowed: 0. a: app: probes fail; RolledBack on 1 of 1: app: probes fail; machines: a',
    );
  });
});
