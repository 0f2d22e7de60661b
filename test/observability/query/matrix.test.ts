import { describe, expect, it } from 'vitest';
import { rangeLength, readLine } from '../../../src/observability/query/matrix.ts';

const RANGE = { from: 100, to: 160, step: 30 };

function body(data: object, more: object = {}): string {
  return JSON.stringify({ status: 'success', data, ...more });
}

function matrix(...series: readonly (readonly unknown[])[]): string {
  return body({ resultType: 'matrix', result: series.map((values) => ({ metric: {}, values })) });
}

describe('readLine', () => {
  it('puts each value at its time, and null where there is none', () => {
    expect(rangeLength(RANGE)).toBe(3);
    expect(
      readLine(
        matrix([
          [100, '1'],
          [160.0004, '3'],
        ]),
        RANGE,
      ),
    ).toEqual({ values: [1, null, 3] });
    expect(
      readLine(
        matrix([
          [100, 'NaN'],
          [130, '+Inf'],
          [160, '2'],
        ]),
        RANGE,
      ),
    ).toEqual({
      values: [null, null, 2],
    });
    expect(
      readLine(
        matrix([
          [40, '9'],
          [190, '9'],
        ]),
        RANGE,
      ),
    ).toEqual({ values: [null, null, null] });
  });

  it('knows an answer without a series from one of zeros', () => {
    expect(readLine(matrix(), RANGE)).toEqual({ values: [null, null, null] });
    expect(readLine(matrix([[100, '0']]), RANGE)).toEqual({ values: [0, null, null] });
  });

  it.each([
    ['an answer that was cut', '{"status":"success","da', 'Prometheus returned no result of a query'],
    ['a vector', body({ resultType: 'vector', result: [] }), 'Prometheus returned no matrix'],
    ['two series', matrix([[100, '1']], [[100, '2']]), 'expected one series, got 2'],
    ['a value that is not a number', matrix([[100, '']]), 'Prometheus returned a value that cannot be read'],
    ['a value without a time', matrix([['100', '1']]), 'Prometheus returned a value that cannot be read'],
    ['no pair', matrix([7]), 'Prometheus returned a value that cannot be read'],
  ])('takes %s for a problem, and never for a line', (_, text, problem) => {
    expect(readLine(text, RANGE)).toEqual({ problem });
  });

  it('keeps what Thanos warns of, in a bounded length', () => {
    const data = { resultType: 'matrix', result: [] };
    const found = readLine(body(data, { warnings: ['x'.repeat(999)] }), RANGE);
    expect('partial' in found && found.partial?.length).toBe(200);
  });
});
