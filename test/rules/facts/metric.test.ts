import { describe, expect, it } from 'vitest';
import { compileRule } from '../../../src/rules/compile.ts';
import type { KnownMetric } from '../../../src/rules/facts/reading/snapshot.ts';
import type { MetricReader } from '../../../src/rules/live/metric-reader.ts';
import { factsBed } from '../live/facts-bed.ts';
import { createRemedierSpec } from '../sample-rule.ts';

const PARAMS = { query: 'max_over_time(temperature[10m])' };
const LEAF = { fact: 'metric', params: PARAMS, path: '$.value', operator: 'greaterThan', value: 90 };

function start(known: KnownMetric | string) {
  const bed = factsBed();
  const asked: string[] = [];
  const listeners: ((machine: string, query: string) => void)[] = [];
  const metrics: MetricReader & { known: KnownMetric | string } = {
    known,
    ask: (query, machine) => {
      asked.push(`${machine}: ${query}`);
      return metrics.known;
    },
    refresh: () => Promise.resolve(),
    onChange: (listener) => {
      listeners.push(listener);
      return () => listeners.splice(0);
    },
    close: () => undefined,
  };
  bed.metrics = metrics;
  bed.restart();
  return { bed, metrics, asked, listeners };
}

describe('the fact metric', () => {
  it('DAT-09 has the value of the machine for two minutes', () => {
    const { bed, metrics, asked } = start({ sample: -1.5, ageMs: 120_000, problem: 'no answer' });
    expect(bed.read('metric', PARAMS)).toEqual({ value: -1.5 });
    expect(asked).toEqual([`n: ${PARAMS.query}`]);
    metrics.known = { sample: -1.5, ageMs: 120_001, problem: 'no answer' };
    expect(bed.read('metric', PARAMS)).toEqual({});
    expect(bed.why('metric', PARAMS)).toBe('nothing heard of Prometheus for 120 s: no answer');
    expect(bed.read('metric', PARAMS, { seconds: 300 })).toEqual({ value: -1.5 });
  });

  it('R1 DAT-09 is unknown where Prometheus is not asked, has not answered, or has no one number for the machine', () => {
    expect(factsBed().why('metric', PARAMS)).toBe('Prometheus is not asked here');
    const { bed, metrics } = start('Prometheus was not asked yet');
    expect([bed.read('metric', PARAMS), bed.why('metric', PARAMS)]).toEqual([
      {},
      'Prometheus was not asked yet',
    ]);
    metrics.known = { sample: 'Prometheus returned NaN', ageMs: 0, problem: undefined };
    expect([bed.read('metric', PARAMS), bed.why('metric', PARAMS)]).toEqual([{}, 'Prometheus returned NaN']);
  });

  it('is read again before its answer is too old, also where it is unknown', () => {
    const { rule } = compileRule(createRemedierSpec({ '/rule/conditions': LEAF }));
    if (!rule) throw new Error('the rule does not compile');
    const { bed, metrics } = start({ sample: 1, ageMs: 20_000, problem: undefined });
    expect(bed.live().dueInMs('n', rule)).toBe(100_001);
    metrics.known = 'Prometheus was not asked yet';
    expect(bed.live().dueInMs('n', rule)).toBe(120_001);
    const patient = createRemedierSpec({
      '/rule/conditions': LEAF,
      '/rule/maxAgeSeconds': { metric: 3600 },
    });
    const { rule: late } = compileRule(patient);
    expect(late && bed.live().dueInMs('n', late)).toBe(300_001);
  });

  it('concerns the machine whose value changed, and the query, until the facts are closed', () => {
    const { bed, listeners } = start('not yet');
    bed.changes.splice(0);
    for (const listener of listeners) listener('n', PARAMS.query);
    expect(bed.changes).toEqual([{ machine: 'n', topics: [`metric ${PARAMS.query}`] }]);
    bed.live().close();
    expect(listeners).toEqual([]);
  });

  it.each([
    ['', 'must be one line of PromQL in ASCII'],
    [' up', 'must be one line of PromQL in ASCII'],
    ['up\nup', 'must be one line of PromQL in ASCII'],
    ['a'.repeat(1025), 'must have at most 1024 characters'],
  ])('refuses the query %j', (query, message) => {
    const { problems } = compileRule(
      createRemedierSpec({ '/rule/conditions': { ...LEAF, params: { query } } }),
    );
    expect(problems.map((each) => each.message).join()).toContain(message);
  });
});
