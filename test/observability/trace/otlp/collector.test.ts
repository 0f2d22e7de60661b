/** A real OpenTelemetry Collector takes what is exported. */
import { describe, expect, it } from 'vitest';
import { openTraces } from '../../../../src/cli/programs/trace-options.ts';
import { createMetrics } from '../../../../src/kube/process/metrics.ts';
import { endedRepair } from '../../../../src/observability/trace/sources/repair.ts';
import { spansOf } from '../../../../src/observability/trace/spans.ts';
import { changeSpan } from '../../../../src/observability/trace/trace.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { agentAnswer, records, repairJob } from '../../../controllers/remedyjob/jobs.ts';
import { eventually } from '../../../support/eventually.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { hasOtelcol, startOtelcol } from '../../../support/otelcol.ts';

describe.skipIf(!hasOtelcol)(`a real collector${hasOtelcol ? '' : ': otelcol is not installed'}`, () => {
  it('DAT-10 takes each span of a repair as it was sent', async () => {
    const collector = await startOtelcol();
    const clock = createSystemClock();
    const log = memoryLog();
    const metrics = createMetrics();
    const flags = { otlpEndpoint: collector.endpoint, otlpCluster: 'prod-eu-1' };
    const traces = openTraces({ env: {}, clock }, flags, { log, metrics, random: () => 0 });
    const at = clock.now().toISOString();
    const times = { startedAt: at, finishedAt: at };
    const job = repairJob({
      status: {
        steps: [
          ...records('s1 Succeeded, s2 Succeeded, s3 Succeeded', times),
          ...records('s4 Failed', { ...times, code: 'TimedOut', message: 'no answer: "ä" <b>' }),
        ],
        agent: agentAnswer('s4', 'Failed', times),
        timeline: { firstFaultAt: at, detectedAt: at, admittedAt: at, settledAt: at },
        outcome: { class: 'Transient', reason: 'StepFailed' },
      },
    });
    const ended = endedRepair(job);
    expect(await traces?.export(ended, new AbortController().signal)).toBeUndefined();
    expect(await metrics.text()).toContain('kubenode_traces_total{what="repair",outcome="Exported"} 1');
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    const spans = ended.flatMap(({ trace }) => spansOf(trace()));
    const { traceId, spanId } = changeSpan(job.spec.cause.commit);
    const expected = [
      ...spans.map((span) => ({ label: 'ID', value: span.spanId })),
      ...spans.map(({ name }) => ({ label: 'Name', value: name })),
      { label: 'Parent ID', value: spans[0]?.spanId ?? '' },
      { label: 'Status code', value: 'Error' },
      { label: 'Status message', value: 'TimedOut: no answer: "ä" <b>' },
    ];
    const shown = await eventually(
      async () => (collector.printed().includes('settle') ? collector.printed() : undefined),
      'the collector printed no span',
    );
    const lines = new Set(shown.split('\n').map((line) => line.trim().replace(/ +: /, ': ')));
    for (const { label, value } of expected) expect(lines).toContain(`${label}: ${value}`);
    for (const text of [`-> kubenode.job: Str(${job.metadata.name})`, '-> kubenode.attempt: Int(1)']) {
      expect(shown).toContain(text);
    }
    expect(shown).toContain('-> k8s.cluster.name: Str(prod-eu-1)');
    for (const linked of [traceId, spanId]) expect(shown).toContain(linked);
  });
});
