import { describe, expect, it } from 'vitest';
import type { MachineComponentEntry, MachineComponentReport } from '../../src/api/generated/types.ts';
import { entryProgress } from '../../src/rollout/entry-progress.ts';
import { ago, component } from '../support/builders.ts';

const NEW = component('kubelet', '1.2');
const OLD = component('kubelet', '1.1');
const ENTRY: MachineComponentEntry = { ...NEW, state: 'Present', parameters: {} };
const ABSENT: MachineComponentEntry = { ...ENTRY, state: 'Absent' };

function report(more: Partial<MachineComponentReport> = {}): MachineComponentReport {
  return {
    name: 'kubelet',
    desiredRef: NEW.componentRef,
    currentRef: NEW.componentRef,
    digest: NEW.digest,
    state: 'Committed',
    running: true,
    ready: true,
    ...more,
  };
}

function waiting(reason: string, message: string): Pick<MachineComponentReport, 'waiting'> {
  return { waiting: { reason, message, since: ago(60) } };
}

function explain(entry: MachineComponentEntry, found: MachineComponentReport | undefined): string {
  const progress = entryProgress(entry, found);
  return progress.step === 'Done' ? 'Done' : `${progress.step} ${progress.reason}: ${progress.because}`;
}

const BEFORE = { currentRef: OLD.componentRef, digest: OLD.digest };

describe('entryProgress', () => {
  it.each<[what: string, report: MachineComponentReport | undefined, expected: string]>([
    ['a version that is committed and works', report(), 'Done'],
    ['no report', undefined, 'InWork NotReported: kubelet: not reported yet'],
    ['a report without a state', { name: 'kubelet' }, 'InWork NotReported: kubelet is NotReported'],
    ['a download', report({ ...BEFORE, state: 'Fetching' }), 'InWork Fetching: kubelet is Fetching'],
    [
      'a staged version without a grant',
      report({ ...BEFORE, state: 'WaitingForGrant', ...waiting('GrantNeeded', 'staged: waits for a grant') }),
      'InWork GrantNeeded: kubelet is WaitingForGrant: staged: waits for a grant',
    ],
    [
      'a drain',
      report({
        ...BEFORE,
        state: 'WaitingForDrain',
        ...waiting('DrainPending', 'waits until it is drained'),
      }),
      'InWork DrainPending: kubelet is WaitingForDrain: waits until it is drained',
    ],
    [
      'an entry that cannot become a target',
      report({ ...BEFORE, state: 'Blocked', ...waiting('InvalidEntry', 'no artifact') }),
      'InWork InvalidEntry: kubelet is Blocked: no artifact',
    ],
    [
      'a held machine',
      report({ ...BEFORE, state: 'Staged', ...waiting('Held', 'the machine is held') }),
      'InWork Held: kubelet is Staged: the machine is held',
    ],
    [
      'an adopted host that runs something else',
      report({ ...BEFORE, state: 'Staged', ...waiting('HostDiffers', 'the host is left as it is: a file') }),
      'Differs HostDiffers: kubelet: the host is left as it is: a file',
    ],
    [
      'an adopted host that was compared with the entry before',
      report({
        ...BEFORE,
        desiredRef: OLD.componentRef,
        state: 'Staged',
        ...waiting('HostDiffers', 'the host is left as it is: a file'),
      }),
      'InWork HostDiffers: kubelet is Staged: the host is left as it is: a file',
    ],
    ['probation', report({ ...BEFORE, state: 'Probation' }), 'InWork Probation: kubelet is Probation'],
    ['a rollback', report({ state: 'RollingBack' }), 'InWork RollingBack: kubelet is RollingBack'],
    [
      'the version before, still committed',
      report({ ...BEFORE, desiredRef: OLD.componentRef }),
      'InWork Committed: kubelet is Committed',
    ],
    [
      'another content under the same name',
      report({ digest: OLD.digest }),
      'InWork Committed: kubelet is Committed',
    ],
    [
      'a version that was rolled back',
      report({ ...BEFORE, state: 'RolledBack', error: { code: 'ProbeFailed', message: 'no answer' } }),
      'Failed RolledBack: kubelet: no answer',
    ],
    [
      'a version that failed and cannot be rolled back',
      report({ state: 'Failed' }),
      'Failed Failed: kubelet: the agent gives no error',
    ],
    [
      'a version that failed here before',
      report({ ...BEFORE, ...waiting('Denied', 'kubelet-1.2 failed on this machine') }),
      'Failed Denied: kubelet: kubelet-1.2 failed on this machine',
    ],
    [
      'the end of the entry before',
      report({ ...BEFORE, desiredRef: OLD.componentRef, state: 'RolledBack' }),
      'InWork RolledBack: kubelet is RolledBack',
    ],
    ['a process that ended', report({ running: false }), 'Unhealthy NotRunning: kubelet does not run'],
    [
      'a process of which nothing is known',
      { ...report(), running: undefined } as unknown as MachineComponentReport,
      'Unhealthy NotRunning: kubelet does not run',
    ],
    ['a probe that fails', report({ ready: false }), 'Unhealthy ProbesFail: probes of kubelet fail'],
    [
      'a probe that has not run',
      { ...report(), ready: undefined } as unknown as MachineComponentReport,
      'InWork ProbesPending: probes of kubelet have not run yet',
    ],
  ])('ROL-31 tells the progress of an update by its report: %s', (_what, found, expected) => {
    expect(explain(ENTRY, found)).toBe(expected);
  });

  it.each<[what: string, report: MachineComponentReport | undefined, expected: string]>([
    ['no report', undefined, 'Done'],
    ['Absent', report({ state: 'Absent', running: false }), 'Done'],
    ['still there', report(), 'InWork Committed: kubelet is Committed'],
    [
      'needed by another component',
      report({ state: 'Blocked', ...waiting('StillNeeded', 'crio depends on it') }),
      'InWork StillNeeded: kubelet is Blocked: crio depends on it',
    ],
    [
      'a removal that failed',
      report({ state: 'Failed' }),
      'Failed Failed: kubelet: the agent gives no error',
    ],
  ])('ROL-31 tells the progress of a removal by its report: %s', (_what, found, expected) => {
    expect(explain(ABSENT, found)).toBe(expected);
  });
});
