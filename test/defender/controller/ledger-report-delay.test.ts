import { describe, expect, it } from 'vitest';
import type { DefenderLedgerStatus } from '../../../src/api/generated/types.ts';
import { COUNTS_MS, ledgerReportDelayMs } from '../../../src/defender/controller/ledger-report-delay.ts';
import { condition } from '../../support/builders.ts';

const HOLDER = { kind: 'RemedyOperationJob', name: 'job' } as const;
const SINCE = '2030-01-01T12:00:00Z';
const LIVE: DefenderLedgerStatus = {
  observedGeneration: 3,
  phase: 'Ready',
  conditions: [condition('Ready', 'True')],
  grants: { inFlight: 4, lingering: 900, suspect: 0 },
  sizeBytes: 300_000,
  casConflicts: 1,
  machines: { total: 1000, ready: 990, upToDate: 400, failed: 0, unhealthy: 0 },
  approvals: [],
};

describe('ledgerReportDelayMs', () => {
  it('lets counts wait for the next report', () => {
    const grants = { inFlight: 9, lingering: 905, suspect: 0 };
    const machines = { ...LIVE.machines, ready: 980, upToDate: 500 };
    const counts = { sizeBytes: 310_000, casConflicts: 2, grants, machines };
    expect(ledgerReportDelayMs(LIVE, { ...LIVE, observedGeneration: 9, ...counts })).toBe(COUNTS_MS);
  });

  it.each<[string, DefenderLedgerStatus]>([
    ['a phase', { ...LIVE, phase: 'Full' }],
    ['a condition', { ...LIVE, conditions: [condition('Ready', 'False')] }],
    ['a new condition', { ...LIVE, conditions: [...LIVE.conditions, condition('RuleHeld', 'True')] }],
    ['a suspect grant', { ...LIVE, grants: { inFlight: 3, lingering: 900, suspect: 1 } }],
    [
      'an act that waits for an approval',
      {
        ...LIVE,
        approvals: [{ machine: 'm-1', action: 'Reboot', risk: 'Node', holder: HOLDER, since: SINCE }],
      },
    ],
    ['an unhealthy machine', { ...LIVE, machines: { ...LIVE.machines, ready: 989, unhealthy: 1 } }],
    ['a failed machine', { ...LIVE, machines: { ...LIVE.machines, failed: 1 } }],
    ['a new machine', { ...LIVE, machines: { ...LIVE.machines, total: 1001 } }],
    ['machines that are not all known', { ...LIVE, machines: undefined } as unknown as DefenderLedgerStatus],
  ])('reports %s at once', (_, next) => {
    expect(ledgerReportDelayMs(LIVE, next)).toBe(0);
  });

  it('reports the first status at once', () => {
    expect(ledgerReportDelayMs(undefined, LIVE)).toBe(0);
  });
});
