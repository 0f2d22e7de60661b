import { describe, expect, it } from 'vitest';
import { createPollRequests } from '../../../src/sync/intake/poll-requests.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

function bed(): {
  readonly clock: ReturnType<typeof virtualClock>;
  readonly records: string[];
  readonly hub: { isDown: boolean };
  readonly request: (pipeline: string) => Promise<void>;
} {
  const clock = virtualClock();
  const records: string[] = [];
  const hub = { isDown: false };
  const record = async (pipeline: string, receivedAt: Date): Promise<void> => {
    if (hub.isDown) throw new Error('hub down');
    records.push(`${pipeline} ${receivedAt.toISOString().slice(17, 23)}`);
  };
  return { clock, records, hub, request: createPollRequests({ record, clock }) };
}

describe('createPollRequests', () => {
  it('records the first request at once, and those of the next second together at its end', async () => {
    const { clock, records, request } = bed();
    await request('a');
    const others = [request('a'), request('a'), request('b')];
    await settle();
    expect(records).toEqual(['a 00.000', 'b 00.000']);
    await clock.advance(1000);
    await Promise.all(others);
    expect(records).toEqual(['a 00.000', 'b 00.000', 'a 01.000']);
  });

  it('records a request that comes while an earlier one is written', async () => {
    const { clock, records, request } = bed();
    const first = request('a');
    await settle();
    const second = request('a');
    await clock.advance(1000);
    await Promise.all([first, second]);
    expect(records).toEqual(['a 00.000', 'a 01.000']);
  });

  it('reports a failed record to each who asked for it, and records the next request', async () => {
    const { clock, records, hub, request } = bed();
    hub.isDown = true;
    await expect(request('a')).rejects.toThrow('hub down');
    hub.isDown = false;
    const next = request('a');
    await clock.advance(1000);
    await next;
    expect(records).toEqual(['a 01.000']);
  });
});
