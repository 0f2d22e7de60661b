import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateSample, type SampleBounds } from '../../../src/rollout/checks/sample.ts';
import { NOW } from '../builders.ts';
import { answer, scalar, vector } from './prometheus-answers.ts';

const UNREADABLE = 'Prometheus returned a value that cannot be read';

function vectorAt(seconds: number): string {
  return answer({ resultType: 'vector', result: [{ value: [+NOW / 1000 + seconds, '0'] }] });
}

function judged(body: string, bounds: SampleBounds = { max: 1 }): string {
  const { result, message } = evaluateSample(body, bounds, NOW);
  return `${result}: ${message}`;
}

describe('the judge of a sample', () => {
  it.each<[value: string, bounds: SampleBounds, expected: string]>([
    ['1', { max: 1 }, 'Passed: 1 is within its bounds'],
    ['1.01', { max: 1 }, 'Failed: 1.01 is above 1'],
    ['0.9', { min: 1 }, 'Failed: 0.9 is below 1'],
    ['5', { min: 1, max: 9 }, 'Passed: 5 is within its bounds'],
    ['-1e-3', { max: 0 }, 'Passed: -0.001 is within its bounds'],
    ['+Inf', { max: 9 }, 'Failed: Infinity is above 9'],
    ['-Inf', { min: 1 }, 'Failed: -Infinity is below 1'],
    ['+Inf', { min: 1 }, 'Unknown: Prometheus returned Infinity'],
    ['-Inf', { max: 9 }, 'Unknown: Prometheus returned -Infinity'],
    ['NaN', { max: 9 }, 'Unknown: Prometheus returned NaN'],
  ])('rates %s within %j, in a vector and as a scalar: %s', (value, bounds, expected) => {
    expect(judged(vector(value), bounds)).toBe(expected);
    expect(judged(scalar(value), bounds)).toBe(expected);
  });

  it.each<[what: string, body: string, message: string]>([
    ['no series', vector(), 'Prometheus returned no value: no series matches the query'],
    ['two series', vector('0', '0'), 'expected one value, got 2: aggregate the query'],
    [
      '2,000 series',
      vector(...Array<string>(2000).fill('0')),
      'expected one value, got 2000: aggregate the query',
    ],
    ['a page of a proxy', '<html>', 'Prometheus returned no result of a query'],
    ['nothing', '', 'Prometheus returned no result of a query'],
    ['an answer that was cut off', vector('0').slice(0, -2), 'Prometheus returned no result of a query'],
    [
      'an error',
      JSON.stringify({ status: 'error', error: 'no' }),
      'Prometheus returned no result of a query',
    ],
    [
      'a matrix',
      answer({ resultType: 'matrix', result: [] }),
      'Prometheus returned neither a scalar nor a vector',
    ],
    [
      'a text',
      answer({ resultType: 'string', result: [1, '0'] }),
      'Prometheus returned neither a scalar nor a vector',
    ],
    ['no data', answer(null), 'Prometheus returned neither a scalar nor a vector'],
    [
      'a part of the data',
      answer(
        { resultType: 'vector', result: [{ value: [+NOW / 1000, '0'] }] },
        { warnings: ['store failed'] },
      ),
      'Prometheus answered with warnings, as for a part of the data',
    ],
    [
      'an old answer',
      vectorAt(-301),
      `the answer of Prometheus is not of now: its time is ${+NOW / 1000 - 301}`,
    ],
    [
      'an answer of tomorrow',
      vectorAt(86_400),
      `the answer of Prometheus is not of now: its time is ${+NOW / 1000 + 86_400}`,
    ],
    ['a number instead of a text', answer({ resultType: 'scalar', result: [+NOW / 1000, 0] }), UNREADABLE],
    ['a sample without a value', answer({ resultType: 'vector', result: [{ metric: {} }] }), UNREADABLE],
    ['an empty text', scalar(''), UNREADABLE],
    ['a number of JavaScript', scalar('0x0'), UNREADABLE],
    ['a number with spaces', scalar(' 0 '), UNREADABLE],
  ])('ROL-21 has no result for an answer: %s', (_what, body, message) => {
    expect(judged(body)).toBe(`Unknown: ${message}`);
  });

  it('ROL-21 accepts one finite number within the bounds, and nothing else', () => {
    const anyValue = fc.oneof(fc.double(), fc.constantFrom('NaN', '+Inf', '-Inf', '', 'x', '1,0'));
    const anyBody = fc.oneof(
      fc.array(anyValue, { maxLength: 3 }).map((values) => vector(...values.map(String))),
      anyValue.map((value) => scalar(String(value))),
      fc.json(),
      fc.string(),
    );
    fc.assert(
      fc.property(anyBody, fc.record({ min: fc.integer(), max: fc.integer() }), (body, { min, max }) => {
        if (evaluateSample(body, { min, max }, NOW).result !== 'Passed') return;
        const { data } = JSON.parse(body) as { data: { result: readonly unknown[] } };
        const values = JSON.stringify(data.result).match(/"(?<value>[^"]*)"\]/);
        const value = Number(values?.groups?.['value']);
        expect(value).toBeGreaterThanOrEqual(min);
        expect(value).toBeLessThanOrEqual(max);
      }),
    );
  });
});
