import { describe, expect, it } from 'vitest';
import { readSamples, readValue } from '../../../src/observability/query/answer.ts';
import { NOW } from '../../rollout/builders.ts';

const SECONDS = +NOW / 1000;

function body(data: object): string {
  return JSON.stringify({ status: 'success', data });
}

describe('readSamples', () => {
  it.each<[what: string, text: string, expected: object]>([
    [
      'a vector',
      body({ resultType: 'vector', result: [{ value: [1, '2'] }] }),
      { type: 'vector', samples: [[1, '2']] },
    ],
    ['an empty vector', body({ resultType: 'vector', result: [] }), { type: 'vector', samples: [] }],
    ['a scalar', body({ resultType: 'scalar', result: [1, '2'] }), { type: 'scalar', samples: [[1, '2']] }],
  ])('DAT-09 reads the samples of %s', (_, text, expected) => {
    expect(readSamples(text)).toEqual(expected);
  });

  it('DAT-09 takes a vector without its list for no answer, and not for an empty one', () => {
    const problem = { problem: 'Prometheus returned neither a scalar nor a vector' };
    expect(readSamples(body({ resultType: 'vector' }))).toEqual(problem);
    expect(readSamples(body({ resultType: 'vector', result: {} }))).toEqual(problem);
  });
});

describe('readValue', () => {
  it('DAT-09 reads a number of now, as Go writes it', () => {
    expect([readValue([SECONDS, '-1e-3'], NOW), readValue([SECONDS - 300, '+Inf'], NOW)]).toEqual([
      { value: -0.001 },
      { value: Infinity },
    ]);
    for (const odd of [[SECONDS, ''], [SECONDS, '0x1'], ['1', '1'], [SECONDS - 301, '1'], undefined]) {
      expect(readValue(odd, NOW)).toHaveProperty('problem');
    }
  });
});
