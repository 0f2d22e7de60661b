import { describe, expect, it } from 'vitest';
import {
  holderKey,
  isAtLeast,
  isLapsed,
  isLingering,
  isListed,
  isSuspect,
  takesNodeDown,
} from '../../../src/defender/ledger/entries.ts';
import { ago, entry, NOW } from '../builders.ts';

describe('entries of the ledger', () => {
  it.each([
    ['Granted, in time', entry('m', { state: 'Granted' }), 'none'],
    ['Granted, past its end', entry('m', { state: 'Granted', notAfter: ago(0) }), 'lapsed'],
    ['Started, in time', entry('m'), 'none'],
    ['Started, past its end', entry('m', { notAfter: ago(1) }), 'suspect'],
    ['Settled', entry('m', { state: 'Settled', settledAt: ago(899) }), 'lingering'],
    ['Settled long ago', entry('m', { state: 'Settled', settledAt: ago(900) }), 'none'],
    ['Settled at an unreadable time', entry('m', { state: 'Settled', settledAt: 'x' }), 'lingering'],
  ])('R13 tells what a grant still holds: %s', (_, grant, meaning) => {
    const found = [
      ...(isLapsed(grant, NOW) ? ['lapsed'] : []),
      ...(isSuspect(grant, NOW) ? ['suspect'] : []),
      ...(isLingering(grant, 900, NOW) ? ['lingering'] : []),
    ];
    expect(found.join() || 'none').toBe(meaning);
  });

  it('orders risks, and counts the acts of one rule together', () => {
    expect([isAtLeast('Node', 'Pod'), isAtLeast('Pod', 'Node')]).toEqual([true, false]);
    expect([takesNodeDown('Pod'), takesNodeDown('Data')]).toEqual([false, true]);
    expect([isListed([], 'x'), isListed(undefined, 'x'), isListed(['y'], 'x')]).toEqual([true, true, false]);
    expect(holderKey({ kind: 'Machine', name: 'm-1' })).toBe('Machine/m-1');
  });
});
