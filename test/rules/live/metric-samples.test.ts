import { describe, expect, it } from 'vitest';
import { readMachineSamples } from '../../../src/rules/live/metric-samples.ts';
import { NOW } from '../../support/virtual-clock.ts';

const AT = NOW.getTime() / 1000;
type Row = readonly [labels: Readonly<Record<string, unknown>>, value: unknown];

function vector(rows: readonly Row[], more: object = {}): { readonly body: string } {
  const result = rows.map(([metric, value]) => ({ metric, value: [AT, value] }));
  return { body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result }, ...more }) };
}

function read(answer: Parameters<typeof readMachineSamples>[0]): unknown {
  const found = readMachineSamples(answer, NOW);
  return 'problem' in found ? found.problem : Object.fromEntries(found.samples);
}

describe('readMachineSamples', () => {
  it('DAT-09 has the value of each machine by the label node', () => {
    const rows: Row[] = [
      [{ node: 'm-1', disk: 'sda' }, '0.5'],
      [{ node: 'm-2' }, '-3e2'],
      [{ instance: '10.0.0.1:9100' }, '7'],
    ];
    expect(read(vector(rows))).toEqual({ 'm-1': 0.5, 'm-2': -300 });
    expect(read(vector([]))).toEqual({});
  });

  it.each<[value: unknown, reason: string]>([
    ['NaN', 'Prometheus returned NaN'],
    ['+Inf', 'Prometheus returned Infinity'],
    ['', 'Prometheus returned a value that cannot be read'],
    [3, 'Prometheus returned a value that cannot be read'],
  ])('DAT-09 has no value for a machine where its sample is %j', (value, reason) => {
    expect(
      read(
        vector([
          [{ node: 'm-1' }, value],
          [{ node: 'm-2' }, '1'],
        ]),
      ),
    ).toEqual({ 'm-1': reason, 'm-2': 1 });
  });

  it('DAT-09 has no value for a machine with several samples, and one for the others', () => {
    const rows: Row[] = [
      [{ node: 'm-1' }, '1'],
      [{ node: 'm-1' }, '1'],
      [{ node: 'm-2' }, '2'],
    ];
    expect(read(vector(rows))).toEqual({
      'm-1': 'several samples have the label node of the machine: aggregate the query by (node)',
      'm-2': 2,
    });
  });

  it.each<[what: string, answer: Parameters<typeof readMachineSamples>[0], problem: string]>([
    ['a problem', { problem: 'no answer within 10 s' }, 'no answer within 10 s'],
    ['no JSON', { body: '<html>' }, 'Prometheus returned no result of a query'],
    [
      'a part',
      vector([[{ node: 'm-1' }, '1']], { warnings: ['store is down'] }),
      'Prometheus answered with a warning: store is down',
    ],
    [
      'a scalar',
      { body: JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [AT, '1'] } }) },
      'Prometheus did not return a vector: use a query that selects series',
    ],
    [
      'samples without the label',
      vector([
        [{ instance: 'a' }, '1'],
        [{ node: '' }, '1'],
        [{ node: 7 }, '1'],
      ]),
      'no sample has the label node',
    ],
  ])('DAT-09 has nothing for any machine after an answer that is %s', (_, answer, problem) => {
    expect(read(answer)).toBe(problem);
  });

  it('DAT-09 reads no sample of another time, as a cache returns it', () => {
    const old = { metric: { node: 'm-1' }, value: [AT - 301, '1'] };
    const body = JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [old] } });
    expect(read({ body })).toEqual({
      'm-1': `the answer of Prometheus is not of now: its time is ${AT - 301}`,
    });
  });
});
