import { describe, expect, it } from 'vitest';
import { openTraces } from '../../../src/cli/programs/trace-options.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import type { TraceFlags } from '../../../src/observability/trace/otlp/settings.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function open(
  flags: TraceFlags,
  env: Readonly<Record<string, string>> = {},
): readonly [isOn: boolean, lines: readonly string[]] {
  const log = memoryLog();
  const clock = virtualClock();
  const traces = openTraces({ env, clock }, flags, { log, metrics: createMetrics(), random: () => 0 });
  expect(clock.sleepers).toBe(0);
  return [traces !== undefined, log.lines.map(({ level, message }) => `${level} ${message}`)];
}

describe('DAT-10 the options of traces', () => {
  it('leave traces off without an endpoint, and say nothing', () => {
    expect(open({})).toEqual([false, []]);
    expect(open({ otlpCluster: 'prod' }, { OTEL_SERVICE_NAME: 'x' })).toEqual([false, []]);
  });

  it('turn traces on by the option or by the variables of OpenTelemetry', () => {
    const on = [true, ['info traces are exported']];
    expect(open({ otlpEndpoint: 'http://collector:4318' })).toEqual(on);
    expect(open({}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' })).toEqual(on);
  });

  it('log where traces are sent, without a token in the query', () => {
    const log = memoryLog();
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://otel.example.com/v1/traces?api-key=secret' };
    openTraces({ env, clock: virtualClock() }, {}, { log, metrics: createMetrics(), random: () => 0 });
    expect(log.lines).toMatchObject([{ fields: { url: 'https://otel.example.com/v1/traces' } }]);
    expect(JSON.stringify(log.lines)).not.toContain('secret');
  });

  it('leave traces off with a warning where a variable of the platform has a mistake', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(open({}, env)).toEqual([false, ['warn traces are off: a variable is invalid']]);
  });

  it('leave traces off with a warning where OTEL_SDK_DISABLED is beside the option, and silently without it', () => {
    const env = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(open({}, env)).toEqual([false, []]);
    expect(open({ otlpEndpoint: 'http://collector:4318' }, env)).toEqual([
      false,
      ['warn traces are off: OTEL_SDK_DISABLED is true, although --otlp-endpoint is set'],
    ]);
  });

  it('refuse the option where a variable beside it has a mistake', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'token' };
    expect(() => open({ otlpEndpoint: 'http://collector:4318' }, env)).toThrow(
      'traces: OTEL_EXPORTER_OTLP_HEADERS: expected key=value,key=value with percent-encoded values; entry 1 is not',
    );
  });
});
