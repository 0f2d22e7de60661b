import { describe, expect, it } from 'vitest';
import { importFindings } from '../../../../src/controllers/machine/import/findings.ts';
import type { ImportInput } from '../../../../src/controllers/machine/import/plan.ts';
import { condition, machine } from '../../../support/builders.ts';
import { HOST_KEY } from '../../../support/import-hosts.ts';
import { DOWN, importInput, MISMATCH, machineAt } from './inputs.ts';

function reasonsOf(input: ImportInput): Record<string, string> {
  return Object.fromEntries(
    importFindings(input).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
}

function first(input: ImportInput): string {
  const unmet = importFindings(input).find(
    ({ status, type }) => status !== 'True' && type !== 'SSHCredentialsNeeded',
  );
  return unmet ? `${unmet.type} ${unmet.reason}${unmet.isFinal ? ' for good' : ''}` : 'none';
}

describe('importFindings', () => {
  it('are none for a machine that is not imported', () => {
    expect(importFindings(importInput(machine('m')))).toEqual([]);
  });

  it('name the step that is under way, and those that follow', () => {
    expect(reasonsOf(importInput(machineAt(1)))).toEqual({
      HostTrusted: 'True Healthy',
      PreflightPassed: 'False Checking',
      AgentInstalled: 'False NotStarted',
      CertificateIssued: 'False NotStarted',
      SSHCredentialsNeeded: 'True Importing',
    });
  });

  it.each<[it: string, input: ImportInput, expected: string]>([
    ['a connection', importInput(machineAt(0)), 'HostTrusted Connecting'],
    [
      'a host that is down',
      importInput(machineAt(0), { result: { step: 'Connect', failure: DOWN } }),
      'HostTrusted Unreachable',
    ],
    [
      'another key',
      importInput(machineAt(0), { result: { step: 'Connect', failure: MISMATCH } }),
      'HostTrusted HostKeyMismatch for good',
    ],
    [
      'another key than before',
      importInput(machineAt(2), { result: { step: 'Install', failure: MISMATCH } }),
      'AgentInstalled HostKeyMismatch for good',
    ],
    ['a process without imports', importInput(machineAt(0), { isOpen: false }), 'HostTrusted ImportsNotRun'],
    ['a hold', importInput(machineAt(2), { isHeld: true }), 'AgentInstalled HeldAll'],
    [
      'a twin',
      importInput(machineAt(1), { twin: { name: 'n', because: 'it is' } }),
      'PreflightPassed DuplicateHost for good',
    ],
    ['a dry run', importInput(machineAt(2, { host: { dryRun: true } })), 'AgentInstalled DryRun'],
    [
      'a dry run that has just begun',
      importInput(machineAt(0, { host: { dryRun: true } })),
      'HostTrusted Connecting',
    ],
    [
      'a result that is not recorded yet',
      importInput(machineAt(2), { result: { step: 'Install', version: '1' } }),
      'CertificateIssued NotStarted',
    ],
  ])('begin with %s', (_, input, expected) => {
    expect(first(input)).toBe(expected);
  });

  it('keep the reason of an attempt that failed for good in an earlier process', () => {
    const before = { ...condition('HostTrusted', 'False'), reason: 'AuthRefused' };
    const found = machineAt(0, { conditions: [before] });
    const { attempt } = importInput(found);
    const again = machineAt(0, { conditions: [before], recorded: { failedAttempt: attempt } });
    expect([first(importInput(found)), first(importInput(again))]).toEqual([
      'HostTrusted Connecting',
      'HostTrusted AuthRefused for good',
    ]);
  });

  it.each([
    ['Pinned', 'True Pinned'],
    ['TrustOnFirstUse', 'True TrustedOnFirstUse'],
  ] as const)('tell how the host is trusted: %s', (hostKeyPolicy, expected) => {
    const result = { step: 'Connect', hostKey: HOST_KEY } as const;
    const found = importFindings(importInput(machineAt(0, { host: { hostKeyPolicy } }), { result }));
    expect(`${found[0]?.status} ${found[0]?.reason}`).toBe(expected);
    expect(found[0]?.message).toContain(HOST_KEY.fingerprint);
  });

  it('MAC-16 need no credentials once the agent has reported', () => {
    expect(reasonsOf(importInput(machineAt(3, { conditions: [condition('AgentReady', 'True')] })))).toEqual({
      HostTrusted: 'True Healthy',
      PreflightPassed: 'True Healthy',
      AgentInstalled: 'True Healthy',
      SSHCredentialsNeeded: 'False AgentReports',
    });
  });

  it('are of no step for an agent that was there before its Machine', () => {
    const failed = { ...condition('HostTrusted', 'False'), reason: 'Unreachable' };
    const input = importInput(machineAt(0, { conditions: [failed, condition('AgentReady', 'True')] }));
    expect(reasonsOf(input)).toEqual({ SSHCredentialsNeeded: 'False AgentReports' });
  });

  it('stay as they are while the Machine is deleted', () => {
    const failed = { ...condition('HostTrusted', 'False'), reason: 'Unreachable' };
    expect(reasonsOf(importInput(machineAt(0, { deleted: true, conditions: [failed] })))).toEqual({
      HostTrusted: 'False Unreachable',
    });
  });
});
