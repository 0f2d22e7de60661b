import { describe, expect, it } from 'vitest';
import { planMachineEvents } from '../../../src/agent/status/machine-events.ts';
import type { AgentStatus } from '../../../src/agent/status/report.ts';
import type { MachineComponentReport, MachineDrift } from '../../../src/api/generated/types.ts';

type Report = Omit<MachineComponentReport, 'name'>;

const OLD: Report = { state: 'Committed', currentRef: 'proxy-1.0', digest: 'a', since: 't1' };
const NEW: Report = { state: 'Committed', currentRef: 'proxy-1.1', digest: 'b', since: 't2' };
const ERROR = { code: 'UnitFailed', message: 'proxy exited with code 3' };
const FETCHING: Report = { ...OLD, state: 'Fetching', since: 't2', desiredRef: 'proxy-1.1' };
const FETCH_FAILS: Report = { ...FETCHING, error: { code: 'DownloadFailed', message: 'HTTP 404' } };
const WAITING = { reason: 'Denied', since: 't3', message: 'it failed here before' } as const;
const MISMATCH = {
  reason: 'DependencyMismatch',
  since: 't3',
  message: 'proxy-1.0 needs base ≤ 1.0',
} as const;
const DENIED: Report = { ...OLD, desiredRef: 'proxy-1.2', waiting: WAITING };
const RETRY = 'To try it again, change spec.retryToken of the Machine';

function status(report?: Report, drift: readonly MachineDrift[] = []): AgentStatus {
  return { components: report ? [{ name: 'proxy', ...report }] : [], drift, conditions: [] };
}

function events(before: AgentStatus | undefined, after: AgentStatus): readonly string[] {
  return planMachineEvents(before, after).map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
}

describe('planMachineEvents', () => {
  it.each<[name: string, before: Report | undefined, after: Report, expected: readonly string[]]>([
    ['the first installation', undefined, OLD, ['Normal AgentInstalled: proxy-1.0 is installed and runs']],
    ['an upgrade', OLD, NEW, ['Normal AgentInstalled: proxy-1.1 is installed and runs, before: proxy-1.0']],
    [
      'other parameters',
      { ...OLD, state: 'Probation', since: 't2' },
      { ...OLD, since: 't3' },
      ['Normal AgentInstalled: proxy-1.0 is installed and runs'],
    ],
    [
      'a staged version that was given up',
      { ...OLD, state: 'WaitingForGrant', since: 't2' },
      { ...OLD, since: 't3' },
      [],
    ],
    ['a restart that waited for its grant', { ...OLD, state: 'WaitingForGrant' }, OLD, []],
    ['nothing new', OLD, OLD, []],
    ['a step on the way', OLD, FETCHING, []],
    [
      'a rollback',
      { ...OLD, state: 'Probation' },
      {
        ...OLD,
        state: 'RolledBack',
        since: 't3',
        desiredRef: 'proxy-1.2',
        error: ERROR,
        waiting: WAITING,
      },
      [
        `Warning AgentRolledBack: proxy-1.2 was rolled back to proxy-1.0: UnitFailed: proxy exited with code 3. ${RETRY}`,
      ],
    ],
    [
      'a rollback to a version that does not fit, and once',
      { ...OLD, state: 'Probation' },
      { ...OLD, state: 'RolledBack', since: 't3', desiredRef: 'proxy-1.2', error: ERROR, waiting: MISMATCH },
      [
        `Warning AgentRolledBack: proxy-1.2 was rolled back to proxy-1.0: UnitFailed: proxy exited with code 3. ${RETRY}`,
        'Warning AgentDependencyMismatch: proxy-1.0 needs base ≤ 1.0',
      ],
    ],
    ['a mismatch that is known', { ...OLD, waiting: MISMATCH }, { ...OLD, waiting: MISMATCH }, []],
    [
      'a first version that was removed again',
      { state: 'Probation', since: 't1' },
      { state: 'RolledBack', since: 't2', desiredRef: 'proxy-1.2', error: ERROR },
      [
        `Warning AgentRolledBack: proxy-1.2 was removed again: UnitFailed: proxy exited with code 3. ${RETRY}`,
      ],
    ],
    [
      'a rollback that failed, too',
      { ...OLD, state: 'RollingBack' },
      { ...OLD, state: 'Failed', since: 't3', desiredRef: 'proxy-1.2' },
      [`Warning AgentFailed: proxy-1.2 failed: the reason is not known. ${RETRY}`],
    ],
    [
      'a removal',
      OLD,
      { state: 'Absent', since: 't2' },
      ['Normal AgentRemoved: proxy is removed from the host'],
    ],
    ['a component that was never there', undefined, { state: 'Absent', since: 't2' }, []],
    [
      'an entry that failed here before',
      OLD,
      DENIED,
      [`Warning AgentDenied: proxy-1.2 is not installed: it failed here before. ${RETRY}`],
    ],
    ['the same denial again', DENIED, { ...DENIED, corrections: 1 }, []],
    [
      'an operation that fails',
      FETCHING,
      FETCH_FAILS,
      ['Warning AgentOperationFailed: proxy-1.1: DownloadFailed: HTTP 404'],
    ],
    ['the same failure again', FETCH_FAILS, FETCH_FAILS, []],
  ])('tells of %s', (_, before, after, expected) => {
    expect(events(status(before), status(after))).toEqual(expected);
  });

  it.each<[name: string, before: MachineDrift | undefined, after: MachineDrift, expected: readonly string[]]>(
    [
      [
        'a correction',
        undefined,
        driftOf('Corrected', 't1'),
        ['Normal AgentDriftCorrected: /etc/a of proxy (Content) differed from the Machine and was corrected'],
      ],
      [
        'another correction of the same path',
        driftOf('Corrected', 't1'),
        driftOf('Corrected', 't2'),
        ['Normal AgentDriftCorrected: /etc/a of proxy (Content) differed from the Machine and was corrected'],
      ],
      ['the same correction', driftOf('Corrected', 't1'), driftOf('Corrected', 't1'), []],
      [
        'a fight with another program',
        driftOf('Corrected', 't1'),
        driftOf('GaveUp', 't1'),
        [
          'Warning AgentGaveUp: /etc/a of proxy (Content) differs again after each correction: it is no longer corrected',
        ],
      ],
      ['the same fight, later', driftOf('GaveUp', 't1'), driftOf('GaveUp', 't2'), []],
      [
        'a difference that is left',
        undefined,
        driftOf('Reported'),
        [
          'Warning AgentDriftReported: /etc/a of proxy (Content) differs from the Machine and is left as it is',
        ],
      ],
    ],
  )('tells of %s', (_, before, after, expected) => {
    expect(events(status(OLD, before ? [before] : []), status(OLD, [after]))).toEqual(expected);
  });

  it('tells nothing of a host whose earlier reports are not known', () => {
    expect(events(undefined, status(OLD, [driftOf('Corrected', 't1')]))).toEqual([]);
  });
});

function driftOf(action: string, at?: string): MachineDrift {
  const found = {
    component: 'proxy',
    path: '/etc/a',
    kind: 'Content',
    action,
    ...(at !== undefined && { at }),
  };
  return found as MachineDrift;
}
