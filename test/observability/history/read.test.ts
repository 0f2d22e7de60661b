import { describe, expect, it } from 'vitest';
import { PAST_LINES, type PastField, pastQuery } from '../../../src/observability/history/lines.ts';
import { readPastLines } from '../../../src/observability/history/read.ts';
import type { PrometheusRanges, QueryAnswer, QueryRange } from '../../../src/observability/query/client.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const RANGE: QueryRange = { from: 0, to: 60, step: 30 };
const FIELDS = Object.keys(PAST_LINES) as readonly PastField[];

function matrix(...values: readonly (readonly [number, string])[]): QueryAnswer {
  const result = values.length === 0 ? [] : [{ metric: {}, values }];
  return { body: JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }) };
}

/** Answers by the metric that a query names. */
function prometheus(answers: Readonly<Record<string, QueryAnswer>>) {
  const asked: string[] = [];
  const fake: PrometheusRanges = {
    queryRange: (query) => {
      asked.push(query);
      const found = Object.entries(answers).find(([metric]) => query.includes(metric));
      return Promise.resolve(found?.[1] ?? matrix([0, '1']));
    },
  };
  return { fake, asked };
}

describe('the lines of the past', () => {
  it('CON-30 are one query each, with gaps where Prometheus has nothing', async () => {
    const { fake, asked } = prometheus({ 'state="Ready"': matrix([0, '4'], [60, '5']) });
    const { lines, missing } = await readPastLines(
      { prometheus: fake, clock: virtualClock() },
      { fields: FIELDS, range: RANGE },
    );
    expect(asked.length).toBe(FIELDS.length);
    expect(lines.ready).toEqual([4, null, 5]);
    expect(lines.trouble).toEqual([1, null, null]);
    expect(missing).toEqual([]);
  });

  it('CON-30 name the metric that Prometheus does not have, and show the others', async () => {
    const { fake } = prometheus({
      kubenode_rollout_machines: matrix(),
      grants: { problem: 'no answer within 5 s' },
    });
    const { lines, missing } = await readPastLines(
      { prometheus: fake, clock: virtualClock() },
      { fields: ['ready', 'updated', 'grants'], range: RANGE },
    );
    expect(Object.keys(lines)).toEqual(['ready']);
    expect(missing).toEqual([
      { field: 'updated', because: 'Prometheus has no kubenode_rollout_machines in this range' },
      { field: 'grants', because: 'no answer within 5 s' },
    ]);
  });

  it('CON-30 show an answer for a part of the data, and name that it is one', async () => {
    const data = { resultType: 'matrix', result: [{ metric: {}, values: [[0, '1']] }] };
    const body = JSON.stringify({ status: 'success', data, warnings: ['a store is down'] });
    const { fake } = prometheus({ machines: { body } });
    const found = await readPastLines(
      { prometheus: fake, clock: virtualClock() },
      { fields: ['ready'], range: RANGE },
    );
    expect(found.lines.ready).toEqual([1, null, null]);
    expect(found.missing).toEqual([{ field: 'ready', because: 'only a part of the data: a store is down' }]);
  });

  it('CON-30 stop asking a Prometheus that is slow: a person waits for the page', async () => {
    const clock = virtualClock();
    let asked = 0;
    const slow: PrometheusRanges = {
      queryRange: async () => {
        asked += 1;
        await clock.sleep(5000);
        return { problem: 'no answer within 5 s' };
      },
    };
    const reading = readPastLines({ prometheus: slow, clock }, { fields: FIELDS, range: RANGE });
    await clock.advance(5000);
    await clock.advance(5000);
    const { missing } = await reading;
    expect(asked).toBe(6);
    expect(missing.at(-1)?.because).toContain('Prometheus took longer than 8 s');
  });
});

describe('the query of a line', () => {
  it('CON-31 reads all clusters, exactly one, or the series without that label', () => {
    expect(pastQuery('ready', 30, undefined)).toContain('cluster=~".*"');
    expect(pastQuery('ready', 30, 'eu-1.a')).toContain('cluster="eu-1.a"');
    expect(pastQuery('ready', 30, '')).toContain('cluster=""');
    expect(pastQuery('ready', 30, '"} or x{a="')).toContain(String.raw`cluster="\"} or x{a=\""`);
  });

  it('shows what was worst within a long step, so that a short trouble stays visible', () => {
    expect(pastQuery('trouble', 720, undefined)).toMatch(/^max_over_time\(\(.*\)\[720s:60s\]\)$/);
    expect(pastQuery('ready', 720, undefined)).toMatch(/^min_over_time/);
    expect(pastQuery('ready', 60, undefined)).toMatch(/^sum/);
  });
});
