import { describe, expect, it } from 'vitest';
import { ago } from '../../../support/builders.ts';
import { factsBed } from '../facts-bed.ts';

const MINUTE = 60_000;
const HUNG = { reason: 'TaskHung', windowSeconds: 600 };

describe('the fact event', () => {
  it('counts the Events of the Node with that reason within the window', async () => {
    const bed = factsBed();
    bed.node({ Ready: 'True' });
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(0) });
    bed.event('b', { reason: 'OOMKilling', lastTimestamp: ago(0) });
    bed.event('c', { reason: 'TaskHung', lastTimestamp: ago(0), involvedObject: { kind: 'Pod', name: 'n' } });
    bed.event('d', {
      reason: 'TaskHung',
      lastTimestamp: ago(0),
      involvedObject: { kind: 'Node', name: 'other' },
    });
    await bed.clock.advance(MINUTE);
    bed.event('a', { reason: 'TaskHung', count: 3, lastTimestamp: ago(-60) });
    expect(bed.read('event', HUNG)).toEqual({ count: 3, lastAgeSeconds: 0 });
    await bed.clock.advance(9.5 * MINUTE);
    bed.event('a', { reason: 'TaskHung', count: 4, lastTimestamp: ago(-630) });
    await bed.clock.advance(2 * MINUTE);
    expect(bed.read('event', HUNG)).toEqual({ count: 1, lastAgeSeconds: 120 });
  });

  it('counts none of an earlier Node of the same name', () => {
    const bed = factsBed();
    bed.node({ Ready: 'True' });
    const older = { kind: 'Node', name: 'n', uid: 'uid-0' };
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(9), involvedObject: older });
    expect(bed.read('event', HUNG)).toEqual({ count: 0 });
  });

  it('remembers Events that the API server deleted within the window', () => {
    const bed = factsBed();
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(9) });
    bed.deleteEvent('a');
    expect(bed.read('event', HUNG)).toEqual({ count: 1, lastAgeSeconds: 9 });
  });

  it('R1 is unknown for a window that ends between Events that were counted together', () => {
    const bed = factsBed();
    bed.event('a', { reason: 'TaskHung', count: 5, firstTimestamp: ago(900), lastTimestamp: ago(60) });
    expect(bed.why('event', HUNG)).toBe(
      'some Events of this time window were counted together with older ones',
    );
    expect(bed.read('event', { ...HUNG, windowSeconds: 1000 })['count']).toBe(5);
    expect(bed.read('event', { ...HUNG, windowSeconds: 50 })['count']).toBe(0);
  });

  it('R1 is unknown for a window that is longer than what the API server keeps and we observed', async () => {
    const bed = factsBed();
    const long = { ...HUNG, windowSeconds: 5400 };
    expect(bed.why('event', long)).toBe('Events are known for the last 3600 s only');
    await bed.clock.advance(30 * MINUTE);
    expect(bed.read('event', long)).toEqual({ count: 0 });
  });

  it('R4 is unknown while the API server does not answer for longer than the maximum age', () => {
    const bed = factsBed();
    bed.silence('events', 119_000);
    expect(bed.read('event', HUNG)).toEqual({ count: 0 });
    bed.silence('events', 121_000);
    expect(bed.read('event', HUNG)).toEqual({});
  });
});
