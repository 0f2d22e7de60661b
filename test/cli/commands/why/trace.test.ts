import { describe, expect, it } from 'vitest';
import { formatTrace } from '../../../../src/cli/commands/why/trace.ts';
import { repairTrace } from '../../../../src/observability/trace/sources/repair.ts';
import { spansOf } from '../../../../src/observability/trace/spans.ts';
import { later, records, repairJob } from '../../../controllers/remedyjob/jobs.ts';

const STEPS = [
  ...records('s1 Succeeded, s2 Succeeded', { startedAt: later(10), finishedAt: later(20) }),
  ...records('s3 Failed', {
    startedAt: later(20),
    finishedAt: later(320),
    code: 'TimedOut',
    message: 'web-0 blocks',
  }),
];
const TRACE = repairTrace(
  repairJob({
    status: {
      steps: STEPS,
      timeline: {
        firstFaultAt: later(-60),
        detectedAt: later(0),
        admittedAt: later(5),
        settledAt: later(400),
      },
      outcome: { class: 'Transient', reason: 'DrainTimedOut', message: 'web-0 blocks' },
    },
  }),
);

describe('DAT-10 why prints the trace', () => {
  it('has each step with its time, how long it took, and why it failed', () => {
    const text = formatTrace(TRACE, new Date(later(500)), 130);
    expect(text.split('\n')).toEqual([
      'STEP                         AT                         TOOK   STATE         BECAUSE',
      'repair m                     2030-01-01T11:59:00.000Z   7m     Transient     DrainTimedOut: web-0 blocks',
      '  detect                     2030-01-01T11:59:00.000Z   60s                  Kernel',
      '  decide                     2030-01-01T12:00:00.000Z   5s                   grant g-7-1',
      '  CollectDiagnostics@v1 s1   2030-01-01T12:00:10.000Z   10s    Succeeded',
      '  Cordon@v1 s2               2030-01-01T12:00:10.000Z   10s    Succeeded',
      '  Drain@v1 s3                2030-01-01T12:00:20.000Z   5m     Failed        TimedOut: web-0 blocks',
      '  Reboot@v1 s4               -                          -      not reached',
      '  WaitForBoot@v1 s5          -                          -      not reached',
      '  verify                     -                          -      not reached',
      '  Uncordon@v1 v1             -                          -      not reached',
      '  settle                     2030-01-01T12:05:20.000Z   80s                  Transient',
      '',
      `  trace      ${TRACE.traceId}`,
      '',
    ]);
  });

  it('prints each step that has a span', () => {
    const text = formatTrace(TRACE, new Date(later(500)), 130);
    for (const { name, traceId } of spansOf(TRACE)) {
      expect(text).toContain(name);
      expect(text).toContain(traceId);
    }
  });

  it('keeps the indent of a step whose name has a line of its own', () => {
    const long = 'x'.repeat(40);
    const step = { key: 'a', name: long, outcome: 'Unset' } as const;
    const trace = { traceId: 't', root: { ...step, name: 'root', steps: [step] } };
    expect(formatTrace(trace, new Date(later(0)), 130)).toContain(`\n  ${long}\n`);
  });
});
