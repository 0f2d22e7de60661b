import { describe, expect, it } from 'vitest';
import { createLastChanges } from '../../../src/rules/clocks/last-change.ts';
import { ago, NOW } from '../../support/builders.ts';

const START = { ms: 1000, at: NOW };
/** Ten seconds later, on a wall clock that jumped back by an hour. */
const LATER = { ms: 11_000, at: new Date(NOW.getTime() - 3_600_000) };

describe('createLastChanges', () => {
  it('R4 counts from the last change that we observed, whatever the clocks of the writer and of this machine are', () => {
    const changes = createLastChanges();
    expect(changes.observe('n', ago(0), START)).toBe(Infinity);
    expect(changes.observe('n', ago(9999), LATER)).toBe(10_000);
    expect(changes.ageMs('n', { ...LATER, ms: 16_000 })).toBe(5000);
  });

  it('R4 takes the age of the first one from its timestamp, because it may have been written long ago', () => {
    const changes = createLastChanges();
    changes.observe('n', ago(60), START);
    expect(changes.ageMs('n', START)).toBe(60_000);
  });

  it('has no sign of life in an object that did not change, or has no timestamp', () => {
    const changes = createLastChanges();
    changes.observe('n', ago(0), START);
    expect([changes.observe('n', ago(0), LATER), changes.observe('n', undefined, LATER)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(changes.ageMs('n', LATER)).toBe(10_000);
  });

  it('never heard of a sender that it does not know, or that was forgotten', () => {
    const changes = createLastChanges();
    changes.observe('n', ago(0), START);
    changes.forget('n');
    expect([changes.ageMs('n', LATER), changes.ageMs('other', LATER)]).toEqual([Infinity, Infinity]);
  });
});
