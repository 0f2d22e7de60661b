import { describe, expect, it } from 'vitest';
import {
  MAX_ANSWER_BYTES,
  readMetricNames,
  readReportSamples,
} from '../../../src/observability/report/answer.ts';

const answer = (data: unknown, more: object = {}, status = 200) => ({
  status,
  body: JSON.stringify({ status: 'success', data, ...more }),
});
const vector = (...result: readonly object[]) => ({ resultType: 'vector', result });

describe('readReportSamples', () => {
  it.each<[name: string, given: { status: number; body: string }, want: unknown]>([
    [
      'reads labels and values',
      answer(vector({ metric: { rule: 'r' }, value: [1, '2.5'] })),
      { found: [{ labels: { rule: 'r' }, value: 2.5 }] },
    ],
    ['takes no sample for an answer', answer(vector()), { found: [] }],
    [
      'reads what is divided by nothing',
      answer(vector({ metric: {}, value: [1, 'NaN'] }, { metric: {}, value: [1, '+Inf'] })),
      {
        found: [
          { labels: {}, value: Number.NaN },
          { labels: {}, value: Number.POSITIVE_INFINITY },
        ],
      },
    ],
    [
      'tells that it is only a part',
      answer(vector(), { warnings: ['store b did not answer'] }),
      { found: [], partial: 'store b did not answer' },
    ],
    ['refuses another status', { status: 503, body: '' }, { problem: 'expected status 200, got 503' }],
    [
      'refuses the page of a proxy',
      { status: 200, body: '<html>' },
      { problem: 'Prometheus returned no result of a query' },
    ],
    [
      'refuses an error',
      { status: 200, body: '{"status":"error"}' },
      { problem: 'Prometheus returned no result of a query' },
    ],
    [
      'refuses a matrix',
      answer({ resultType: 'matrix', result: [] }),
      { problem: 'the answer is not a vector' },
    ],
    [
      'refuses a sample without a value',
      answer(vector({ metric: {} })),
      { problem: 'a value cannot be read' },
    ],
    [
      'takes no empty value for 0',
      answer(vector({ metric: {}, value: [1, ''] })),
      { problem: 'a value cannot be read' },
    ],
    [
      'refuses an answer that was cut',
      { status: 200, body: ' '.repeat(MAX_ANSWER_BYTES) },
      { problem: 'the answer has more than 1048576 bytes' },
    ],
  ])('DAT-11 takes nothing that cannot be read for an empty answer: %s', (_, given, want) => {
    expect(readReportSamples(given)).toEqual(want);
  });

  it('DAT-11 reads the names of metrics', () => {
    expect(readMetricNames(answer(['kubenode_machines', 1]))).toEqual({ found: ['kubenode_machines'] });
  });
});
