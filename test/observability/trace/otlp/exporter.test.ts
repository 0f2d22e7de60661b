/** The exporter against a collector that fails, hangs, or takes a part. */
import { describe, expect, it } from 'vitest';
import { createTraceExporter, isRefusedExport } from '../../../../src/observability/trace/otlp/exporter.ts';
import type { EndedTrace } from '../../../../src/observability/trace/sources/ended.ts';
import { traceIdOf } from '../../../../src/observability/trace/trace.ts';
import { exchange } from '../../../../src/os/net/exchange.ts';
import { createSender, type SenderPorts } from '../../../../src/os/net/sender.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { startTraceCollector } from '../../../support/trace-collector.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;
const URL_OF_TRACES = 'http://collector:4318/v1/traces';

interface Bed {
  readonly clock: VirtualClock;
  readonly log: MemoryLog;
  /** The names of the root spans that were sent, by request. */
  readonly requests: string[];
  readonly counted: string[];
  answer: () => Promise<{
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  }>;
  readonly export: (...ended: readonly EndedTrace[]) => Promise<number | undefined>;
  readonly ended: (key: string) => EndedTrace;
}

function createBed(url = URL_OF_TRACES, real?: SenderPorts['exchange'], signal?: AbortSignal): Bed {
  const [clock, log] = [virtualClock(), memoryLog()];
  const requests: string[] = [];
  const counted: string[] = [];
  const bed: Bed = {
    clock,
    log,
    requests,
    counted,
    answer: async () => ({ status: 200 }),
    export: (...ended) => exporter.export(ended, signal ?? new AbortController().signal),
    ended(key) {
      const at = clock.now().toISOString();
      const root = { key, name: key, startedAt: at, endedAt: at, outcome: 'Ok' } as const;
      return { key, what: 'repair', endedAt: at, trace: () => ({ traceId: traceIdOf(key), root }) };
    },
  };
  const exporter = createTraceExporter({
    settings: { url, headers: { authorization: 'Bearer abc' }, resource: { 'service.name': 'kubenode' } },
    version: '1.2.3',
    clock,
    log,
    metrics: { ended: (what, outcome) => void counted.push(`${what} ${outcome}`) },
    sender: createSender({
      clock,
      random: () => 0,
      isRefusal: isRefusedExport,
      exchange:
        real ??
        (async (_, { body = '' }) => {
          requests.push(/"name":"(?<name>job-\d+)"/.exec(body)?.groups?.['name'] ?? '');
          const { status, headers: answered, body: text = '{}' } = await bed.answer();
          return { status, headers: new Headers(answered), body: text };
        }),
    }),
  });
  return bed;
}

describe('DAT-10 the exporter of traces', () => {
  it('sends each trace once', async () => {
    const bed = createBed();
    const one = bed.ended('job-1');
    expect(await bed.export(one)).toBeUndefined();
    expect(await bed.export(one, bed.ended('job-2'))).toBeUndefined();
    expect(bed.requests).toEqual(['job-1', 'job-2']);
    expect(bed.counted).toEqual(['repair Exported', 'repair Exported']);
  });

  it.each([429, 502, 503, 504])('sends a trace again after the status %d, with a pause', async (status) => {
    const bed = createBed();
    bed.answer = async () => ({ status });
    const one = bed.ended('job-1');
    expect(await bed.export(one)).toBe(5000);
    bed.answer = async () => ({ status: 200 });
    expect(await bed.export(one)).toBe(5000);
    await bed.clock.advance(5000);
    expect(await bed.export(one)).toBeUndefined();
    expect(bed.requests).toEqual(['job-1', 'job-1']);
    expect(bed.counted).toEqual(['repair Failed', 'repair Exported']);
  });

  it('counts requests that failed at the same time as one failure', async () => {
    const bed = createBed();
    bed.answer = async () => ({ status: 503 });
    const all = Array.from({ length: 4 }, (_, index) => bed.export(bed.ended(`job-${index}`)));
    expect(await Promise.all(all)).toEqual([5000, 5000, 5000, 5000]);
    expect(bed.requests).toHaveLength(4);
    await bed.clock.advance(5000);
    expect(await bed.export(bed.ended('job-4'))).toBe(10_000);
  });

  it('waits for as long as the collector asks with Retry-After, but never longer than five minutes', async () => {
    const bed = createBed();
    bed.answer = async () => ({ status: 429, headers: { 'retry-after': '60' } });
    expect(await bed.export(bed.ended('job-1'))).toBe(60_000);
    const other = createBed();
    other.answer = async () => ({ status: 503, headers: { 'retry-after': '86400' } });
    expect(await other.export(other.ended('job-1'))).toBe(300_000);
  });

  it.each([400, 401, 403, 404, 413, 500])(
    'does not repeat a trace that is answered with the status %d',
    async (status) => {
      const bed = createBed();
      bed.answer = async () => ({ status });
      const one = bed.ended('job-1');
      expect(await bed.export(one)).toBeUndefined();
      expect(await bed.export(one)).toBeUndefined();
      expect(bed.requests).toEqual(['job-1']);
      expect(bed.counted).toEqual(['repair Refused']);
      expect(bed.log.lines).toMatchObject([
        {
          level: 'warn',
          message: 'trace not exported',
          fields: { because: `it answered with status ${status}` },
        },
      ]);
    },
  );

  it('does not repeat spans that the collector refused of a request that it took', async () => {
    const bed = createBed();
    bed.answer = async () => ({
      status: 200,
      body: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"secret"}}',
    });
    const one = bed.ended('job-1');
    await bed.export(one);
    expect(await bed.export(one)).toBeUndefined();
    expect(bed.counted).toEqual(['repair Refused']);
    expect(bed.log.lines).toMatchObject([{ fields: { because: 'it refused 2 spans' } }]);
    expect(JSON.stringify(bed.log.lines)).not.toContain('secret');
  });

  it('drops after an hour what the collector did not take, and asked it seldom', async () => {
    const bed = createBed();
    bed.answer = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    const many = Array.from({ length: 100 }, (_, index) => bed.ended(`job-${index}`));
    const endMs = bed.clock.monotonicMs() + HOUR_MS;
    for (
      let waitMs = await bed.export(...many);
      bed.clock.monotonicMs() < endMs;
      waitMs = await bed.export(...many)
    ) {
      await bed.clock.advance(waitMs ?? HOUR_MS);
    }
    expect(bed.requests.length).toBeLessThan(25);
    expect(bed.counted.filter((each) => each === 'repair Dropped')).toHaveLength(100);
    bed.answer = async () => ({ status: 200 });
    await bed.clock.advance(HOUR_MS);
    expect(await bed.export(...many)).toBeUndefined();
    expect(bed.counted).not.toContain('repair Exported');
  });

  it('sends nothing of what ended long ago, as after a restart', async () => {
    const bed = createBed();
    const old = bed.ended('job-1');
    await bed.clock.advance(HOUR_MS);
    expect(await bed.export(old)).toBeUndefined();
    expect(bed.requests).toEqual([]);
    expect(bed.counted).toEqual([]);
  });

  it('sends a trace with the same IDs again after a restart', async () => {
    const collector = await startTraceCollector();
    const beds = [createBed(collector.url, exchange), createBed(collector.url, exchange)];
    for (const bed of beds) await bed.export(bed.ended('job-1'));
    const [first, second] = collector.requests;
    expect(first).toMatchObject({
      path: '/v1/traces',
      authorization: 'Bearer abc',
      type: 'application/json',
      resource: { 'service.name': 'kubenode' },
      spans: [{ name: 'job-1' }],
    });
    expect(second?.spans).toEqual(first?.spans);
  });

  it('gives up a collector that hangs, and is stopped at once with the process', async () => {
    const collector = await startTraceCollector();
    collector.hangs = true;
    const bed = createBed(collector.url, exchange);
    const hanging = bed.export(bed.ended('job-1'));
    await collector.arrived();
    await bed.clock.advance(10_000);
    expect(await hanging).toBe(5000);
    expect(bed.counted).toEqual(['repair Failed']);
    const stop = new AbortController();
    const other = createBed(collector.url, exchange, stop.signal);
    const stopped = other.export(other.ended('job-2'));
    await collector.arrived();
    stop.abort(new Error('the process stops'));
    await expect(stopped).rejects.toThrow('the process stops');
    expect(other.counted).toEqual([]);
  });
});
