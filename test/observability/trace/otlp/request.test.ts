import { describe, expect, it } from 'vitest';
import { otlpRequest, rejectedSpans } from '../../../../src/observability/trace/otlp/request.ts';
import { spansOf } from '../../../../src/observability/trace/spans.ts';
import { traceIdOf } from '../../../../src/observability/trace/trace.ts';

const SOURCE = { resource: { 'service.name': 'kubenode', 'k8s.cluster.name': undefined }, version: '1.2.3' };
const TRACE_ID = traceIdOf('test');

const SPANS = spansOf({
  traceId: TRACE_ID,
  parentSpanId: 'b'.repeat(16),
  links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) }],
  root: {
    key: 'root',
    name: 'repair',
    startedAt: '2030-01-01T12:00:00.5Z',
    endedAt: '2030-01-01T12:00:02Z',
    outcome: 'Error',
    reason: 'NotVerified',
    attributes: { text: 'a "b"', whole: 7, part: 0.5, flag: false, missing: undefined, empty: '' },
    events: [{ name: 'machine failed', at: '2030-01-01T12:00:01Z' }],
    steps: [
      {
        key: 'a',
        name: 'settle',
        startedAt: '2030-01-01T12:00:01Z',
        endedAt: '2030-01-01T12:00:02Z',
        outcome: 'Ok',
      },
    ],
  },
});

describe('a request of OTLP in JSON', () => {
  it('has IDs in hexadecimal, times as text of nanoseconds, and values by type', () => {
    const [root, part] = SPANS;
    expect(JSON.parse(otlpRequest(SPANS, SOURCE))).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'kubenode' } }] },
          scopeSpans: [
            {
              scope: { name: 'kubenode', version: '1.2.3' },
              spans: [
                {
                  traceId: TRACE_ID,
                  spanId: root?.spanId,
                  parentSpanId: 'b'.repeat(16),
                  name: 'repair',
                  kind: 1,
                  startTimeUnixNano: '1893499200500000000',
                  endTimeUnixNano: '1893499202000000000',
                  attributes: [
                    { key: 'text', value: { stringValue: 'a "b"' } },
                    { key: 'whole', value: { intValue: '7' } },
                    { key: 'part', value: { doubleValue: 0.5 } },
                    { key: 'flag', value: { boolValue: false } },
                    { key: 'error.type', value: { stringValue: 'NotVerified' } },
                  ],
                  events: [{ timeUnixNano: '1893499201000000000', name: 'machine failed', attributes: [] }],
                  links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), attributes: [] }],
                  status: { code: 2, message: 'NotVerified' },
                },
                {
                  traceId: TRACE_ID,
                  spanId: part?.spanId,
                  parentSpanId: root?.spanId,
                  name: 'settle',
                  kind: 1,
                  startTimeUnixNano: '1893499201000000000',
                  endTimeUnixNano: '1893499202000000000',
                  attributes: [],
                  events: [],
                  links: [],
                  status: { code: 1 },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it.each<[answer: string, rejected: number]>([
    ['{}', 0],
    ['', 0],
    ['no JSON', 0],
    ['{"partialSuccess":{}}', 0],
    ['{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}', 3],
    ['{"partialSuccess":{"rejectedSpans":2}}', 2],
    ['{"partialSuccess":{"rejectedSpans":"many"}}', 0],
    ['{"partialSuccess":null}', 0],
  ])('was refused in part by the answer %s: %d spans', (answer, rejected) => {
    expect(rejectedSpans(answer)).toBe(rejected);
  });
});
