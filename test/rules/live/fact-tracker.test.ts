import { describe, expect, it } from 'vitest';
import type { FactChange } from '../../../src/rules/live/fact-changes.ts';
import { ago } from '../../support/builders.ts';
import { factsBed } from './facts-bed.ts';

describe('the tracker of facts', () => {
  it('reports every fact of a machine that appears, once for its Node and once for its Machine', () => {
    const bed = factsBed();
    bed.node({ Ready: 'True' });
    bed.machine();
    const all = bed.changes.filter(({ silentMs, topics }) => silentMs === undefined && topics.length === 7);
    expect(all.map(({ machine }) => machine)).toEqual(['n', 'n']);
  });

  it('reports nothing to a listener that left, and nothing once it is closed', () => {
    const bed = factsBed();
    const heard: FactChange[] = [];
    const leave = bed.live().onChange((change) => heard.push(change));
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(0) });
    leave();
    bed.event('b', { reason: 'TaskHung', lastTimestamp: ago(0) });
    expect(heard).toHaveLength(1);
    bed.changes.length = 0;
    bed.live().close();
    bed.machine();
    bed.node({ Ready: 'True' });
    bed.heartbeat();
    expect(bed.changes).toEqual([]);
  });

  it('R4 takes no other Lease for a heartbeat of the agent', () => {
    const bed = factsBed();
    bed.machine();
    bed.renewNodeLease();
    expect(bed.why('disk', { filesystem: 'imagefs' })).toBe('nothing heard of the agent yet');
  });

  it('R4 knows what it observed of Events only from when their list was complete', async () => {
    const bed = factsBed();
    bed.silence('events', Infinity);
    bed.read('event', { reason: 'TaskHung', windowSeconds: 60 });
    await bed.clock.advance(1_000_000);
    bed.silence('events', undefined);
    expect(bed.why('event', { reason: 'TaskHung', windowSeconds: 4000 })).toBe(
      'Events are known for the last 3600 s only',
    );
  });
});
