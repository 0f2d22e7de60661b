import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { QueryAnswer } from '../../../src/observability/query/client.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createMetricReader, type MetricReader } from '../../../src/rules/live/metric-reader.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { hasPrometheus, startPrometheus } from '../../support/prometheus.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

interface Bed {
  readonly reader: MetricReader;
  readonly clock: VirtualClock;
  readonly asked: string[];
  readonly changed: string[];
  readonly log: ReturnType<typeof memoryLog>;
  /** What Prometheus has for each query: values by machine, or a problem. */
  answers: Readonly<Record<string, Readonly<Record<string, string>> | string>>;
}

function start({ isOnce = false } = {}): Bed {
  const clock = virtualClock();
  const log = memoryLog();
  const bed = { clock, log, asked: [] as string[], changed: [] as string[], answers: {} as Bed['answers'] };
  const query = async (text: string): Promise<QueryAnswer> => {
    bed.asked.push(text);
    const values = bed.answers[text] ?? {};
    if (typeof values === 'string') return { problem: values };
    const at = +clock.now() / 1000;
    const result = Object.entries(values).map(([node, value]) => ({ metric: { node }, value: [at, value] }));
    return { body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }) };
  };
  const reader = createMetricReader({ prometheus: { query }, clock, log, isOnce });
  onTestFinished(() => reader.close());
  reader.onChange((machine, text) => bed.changed.push(`${machine} ${text}`));
  return Object.assign(bed, { reader });
}

/** Lets the first round end, which begins with the first question. */
async function begin(bed: Bed, ...queries: string[]): Promise<void> {
  for (const query of queries) bed.reader.ask(query, 'm-1');
  await bed.clock.advance(0);
}

describe('createMetricReader', () => {
  it('DAT-09 asks a query once for all machines, then each half minute, and reports whose value changed', async () => {
    const bed = start();
    bed.answers = { temperature: { 'm-1': '91', 'm-2': '40' } };
    expect(bed.reader.ask('temperature', 'm-1')).toBe('Prometheus was not asked yet');
    expect(bed.reader.ask('temperature', 'm-2')).toBe('Prometheus was not asked yet');
    await bed.clock.advance(0);
    expect(bed.asked).toEqual(['temperature']);
    expect(bed.changed.splice(0)).toEqual(['m-1 temperature', 'm-2 temperature']);
    expect(bed.reader.ask('temperature', 'm-1')).toMatchObject({ sample: 91, ageMs: 0, problem: undefined });
    bed.answers = { temperature: { 'm-1': '91', 'm-3': '7' } };
    await bed.clock.advance(30_000);
    expect([bed.asked.length, bed.changed]).toEqual([2, ['m-2 temperature', 'm-3 temperature']]);
    expect(bed.reader.ask('temperature', 'm-2')).toMatchObject({
      sample: 'the query has no sample for the machine',
    });
  });

  it('DAT-09 keeps the last good answer with its age while Prometheus fails, and why it fails', async () => {
    const bed = start();
    bed.answers = { q: { 'm-1': '1' } };
    await begin(bed, 'q');
    bed.answers = { q: 'no answer within 10 s' };
    await bed.clock.advance(65_000);
    expect(bed.reader.ask('q', 'm-1')).toEqual({
      sample: 1,
      ageMs: 65_000,
      problem: 'no answer within 10 s',
    });
    expect(bed.changed.splice(0)).toEqual(['m-1 q']);
    expect(bed.log.lines.map(({ message }) => message)).toEqual(['A query of rules has no answer']);
    bed.answers = { q: { 'm-1': '1' } };
    await bed.clock.advance(25_000);
    expect(bed.reader.ask('q', 'm-1')).toEqual({ sample: 1, ageMs: 0, problem: undefined });
    // Rules may have found it too old meanwhile.
    expect(bed.changed).toEqual(['m-1 q']);
  });

  it('DAT-09 answers why, where Prometheus never answered well', async () => {
    const bed = start();
    bed.answers = { q: 'Prometheus: expected status 200, got 503' };
    await begin(bed, 'q');
    expect(bed.reader.ask('q', 'm-1')).toBe('Prometheus: expected status 200, got 503');
  });

  it('DAT-09 asks 32 queries at most, those that were read first, and frees the place of one that is read no more', async () => {
    const bed = start();
    const queries = Array.from({ length: 33 }, (_, index) => `q${index}`);
    await begin(bed, ...queries);
    expect(bed.asked.toSorted()).toEqual(queries.slice(0, 32).toSorted());
    expect(bed.reader.ask('q32', 'm-1')).toBe('rules read more than 32 queries');
    for (let minute = 0; minute < 17; minute += 1) {
      for (const query of queries.slice(1)) bed.reader.ask(query, 'm-1');
      await bed.clock.advance(60_000);
    }
    bed.asked.splice(0);
    await bed.clock.advance(30_000);
    expect(bed.asked.toSorted()).toEqual(queries.slice(1).toSorted());
  });

  it('DAT-09 asks nothing before a rule reads a query, nor when none is read any more, nor after its end', async () => {
    const bed = start();
    await bed.clock.advance(3_600_000);
    expect([bed.asked, bed.clock.sleepers]).toEqual([[], 0]);
    await begin(bed, 'q');
    await bed.clock.advance(1_000_000);
    const { length } = bed.asked;
    await bed.clock.advance(3_600_000);
    expect([bed.asked.length, bed.clock.sleepers]).toEqual([length, 0]);
    await begin(bed, 'q');
    expect(bed.asked).toHaveLength(length + 1);
    bed.reader.close();
    await bed.clock.advance(60_000);
    expect([bed.asked.length, bed.clock.sleepers]).toEqual([length + 1, 0]);
  });

  it('asks once where a command reads, without a background', async () => {
    const bed = start({ isOnce: true });
    bed.answers = { q: { 'm-1': '5' } };
    await bed.reader.refresh(['q', 'q']);
    expect(bed.reader.ask('q', 'm-1')).toMatchObject({ sample: 5 });
    expect([bed.asked, bed.clock.sleepers]).toEqual([['q'], 0]);
  });

  it.skipIf(!hasPrometheus)('DAT-09 reads the past of a machine from a real Prometheus', async () => {
    let celsius = 95;
    const target = createServer((_, response) => {
      response.end(`temperature{node="m-1"} ${celsius}\ntemperature{node="m-2"} 20\n`);
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    onTestFinished(() => void target.close());
    const server = await startPrometheus({ host: `127.0.0.1:${(target.address() as AddressInfo).port}` });
    onTestFinished(() => server.stop());
    await expect.poll(() => server.query('temperature').catch(() => [])).toHaveLength(2);
    celsius = 30;
    await expect.poll(async () => (await server.query('temperature{node="m-1"}'))[0]?.value[1]).toBe('30');
    const query = async (text: string): Promise<QueryAnswer> => {
      const result = await server.query(text);
      return { body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }) };
    };
    const clock = { ...virtualClock(), now: () => createSystemClock().now() };
    const reader = createMetricReader({ prometheus: { query }, clock, log: memoryLog(), isOnce: true });
    const past = 'max_over_time(temperature[5m])';
    await reader.refresh([past, 'temperature']);
    const sampleOf = (text: string, machine: string): unknown => reader.ask(text, machine);
    expect(sampleOf(past, 'm-1')).toMatchObject({ sample: 95 });
    expect(sampleOf('temperature', 'm-1')).toMatchObject({ sample: 30 });
    expect(sampleOf(past, 'm-2')).toMatchObject({ sample: 20 });
  });
});
