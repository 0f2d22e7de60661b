/** DAT-10: a commit goes through the stages of a hub on real API servers, and its trace arrives at a collector. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTraces } from '../../../src/cli/programs/trace-options.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { changeSpan } from '../../../src/observability/trace/trace.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { testIo } from '../../support/test-io.ts';
import { startTraceCollector } from '../../support/trace-collector.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet?.stop());

describe('DAT-10 the trace of a commit on real API servers', () => {
  it('has the stages and their clusters, and is what why release prints', async () => {
    const collector = await startTraceCollector();
    const parts = { log: memoryLog(), metrics: createMetrics(), random: () => 0 };
    const traces = openTraces(
      { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }, clock: createSystemClock() },
      {},
      parts,
    );
    if (!traces) throw new Error('traces are off');
    const commit = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.sync('one', () => true, { traces });
    await fleet.allProven(commit);
    const arrived = await eventually(
      async () => (collector.spans().some(({ name }) => name === 'change') ? collector.spans() : undefined),
      'the trace did not arrive',
    );
    // On a busy machine the answer may be late: the same span is then sent again.
    const spans = [...new Map(arrived.map((span) => [span.spanId, span])).values()];
    const { traceId, spanId } = changeSpan(commit);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    const named = (name: string): typeof spans => spans.filter((span) => span.name === name);
    expect(named('change')).toMatchObject([
      {
        spanId,
        status: { code: 1 },
        attributes: { 'kubenode.commit': commit, 'kubenode.commit.subject': 'first' },
      },
    ]);
    const [release] = named('release');
    expect(release).toMatchObject({ parentSpanId: spanId, attributes: { 'kubenode.pipeline': 'fleet' } });
    expect(
      named('stage').map(({ attributes, status }) => [attributes['kubenode.stage'], status.code]),
    ).toEqual([
      ['test', 1],
      ['prod', 1],
    ]);
    const stages = new Map(named('stage').map((span) => [span.spanId, span.attributes['kubenode.stage']]));
    expect(
      named('cluster').map(({ attributes, parentSpanId = '', status }) => [
        attributes['k8s.cluster.name'],
        stages.get(parentSpanId),
        status.code,
      ]),
    ).toEqual([
      ['test', 'test', 1],
      ['prod', 'prod', 1],
    ]);
    const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
    expect(await runCommandLine(io, ['why', 'release', commit])).toBe(0);
    for (const text of [traceId, 'accept and render', 'stage prod', 'cluster prod']) {
      expect(io.stdout).toContain(text);
    }
  });
});
