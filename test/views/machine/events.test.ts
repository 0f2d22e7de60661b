import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { lastEvents, MAX_EVENTS } from '../../../src/views/machine/events.ts';

function event(fields: object, kind = 'Node'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', creationTimestamp: '2030-01-01T00:00:00Z' },
    involvedObject: { kind, name: 'm-1' },
    ...fields,
  };
}

describe('the events of a machine', () => {
  it.each<[what: string, fields: object, at: string, count: number]>([
    [
      'a kubelet counts what repeats',
      { lastTimestamp: '2030-01-02T00:00:00Z', count: 14, eventTime: null },
      '2030-01-02T00:00:00Z',
      14,
    ],
    [
      'a controller records a series',
      {
        eventTime: '2030-01-02T00:00:00.000000Z',
        series: { count: 3, lastObservedTime: '2030-01-03T00:00:00.000000Z' },
      },
      '2030-01-03T00:00:00.000000Z',
      3,
    ],
    ['one happened once', { eventTime: '2030-01-02T00:00:00.000000Z' }, '2030-01-02T00:00:00.000000Z', 1],
    ['one has no time of its own', { lastTimestamp: null }, '2030-01-01T00:00:00Z', 1],
  ])('have the last time at which it happened: %s', (_, fields, at, count) => {
    expect(lastEvents([event(fields)])).toMatchObject([{ at, count }]);
  });

  it('are the newest first, and no more than a person reads', () => {
    const all = Array.from({ length: 30 }, (_, index) =>
      event({ reason: `R${index}`, eventTime: new Date(Date.UTC(2030, 0, 1, 0, index)).toISOString() }),
    );
    const found = lastEvents(all);
    expect([found.length, found[0]?.reason, found.at(-1)?.reason]).toEqual([MAX_EVENTS, 'R29', 'R10']);
  });

  it('name the job that they are about, who wrote them, and whether that warns', () => {
    const written = { type: 'Warning', reason: 'Failed', message: 'a\u001B[31m\nb' };
    expect(
      lastEvents([
        event({ ...written, reportingComponent: 'kubenode.dev/remedyjob' }, 'RemedyOperationJob'),
        event({ ...written, type: 'Normal', source: { component: 'kubelet' } }),
      ]),
    ).toMatchObject([
      { about: 'RemedyOperationJob m-1', from: 'kubenode.dev/remedyjob', isWarning: true },
      { about: 'Node', from: 'kubelet', isWarning: false },
    ]);
    const { message = '' } = lastEvents([event(written)])[0] ?? {};
    expect([message.includes('\u001B'), message.includes('\n')]).toEqual([false, false]);
  });
});
