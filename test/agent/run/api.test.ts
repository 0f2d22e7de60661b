import { describe, expect, it } from 'vitest';
import { skewOf } from '../../../src/agent/run/api.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const SERVER = '2030-01-01T12:00:00Z';

function written(time: string | undefined, manager = 'kubenode-agent'): KubeObject {
  const entry = { manager, operation: 'Apply', ...(time === undefined ? {} : { time }) } as const;
  return { apiVersion: 'v1', kind: 'Lease', metadata: { name: 'n1', managedFields: [entry] } };
}

/** The request was sent and answered so many milliseconds after that second of the server, by the clock of the agent. */
function skew(sentMs: number, answeredMs: number): number | undefined {
  const at = (ms: number): Date => new Date(Date.parse(SERVER) + ms);
  return skewOf(written(SERVER), { sentAt: at(sentMs), answeredAt: at(answeredMs) });
}

describe('the clock of the agent against that of the API server', () => {
  it.each<[string, number, number, number]>([
    ['agrees within the second that the server notes', 300, 400, 0],
    ['agrees when the request was sent in the second before', -50, 20, 0],
    ['agrees when the answer took a minute', -1000, 60_000, 0],
    ['is ahead', 61_000, 61_050, 60_000],
    ['is behind', -60_100, -60_000, -60_000],
  ])('AGT-42 tells from the time of its own write that this clock %s', (_, sent, answered, expected) => {
    expect(skew(sent, answered)).toBe(expected);
  });

  it('is unknown when the server notes no time for our manager', () => {
    const now = new Date(SERVER);
    expect(skewOf(written(undefined), { sentAt: now, answeredAt: now })).toBeUndefined();
    expect(skewOf(written(SERVER, 'other'), { sentAt: now, answeredAt: now })).toBeUndefined();
    const bare = { apiVersion: 'v1', kind: 'Lease', metadata: { name: 'n1' } };
    expect(skewOf(bare, { sentAt: now, answeredAt: now })).toBeUndefined();
  });
});
