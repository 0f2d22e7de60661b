import { describe, expect, it } from 'vitest';
import { fleetRateKey, isCountedBy, permitted, usedOf } from '../../../src/defender/allowance/limits.ts';
import { countAct } from '../../../src/defender/ledger/rates.ts';
import { ago, ask, entry, ledgerSpec, NOW } from '../builders.ts';
import { allowance, clustersLimit, rebootsLimit } from './builders.ts';

describe('limits of an allowance', () => {
  it('permits the share while it lasts, and the floor afterwards', () => {
    const limit = rebootsLimit({ share: 5, floor: 1 });
    expect(permitted(allowance(), limit, NOW)).toBe(5);
    expect(permitted(allowance({ until: ago(1) }), limit, NOW)).toBe(1);
    expect(permitted(allowance({ until: NOW.toISOString() }), limit, NOW)).toBe(1);
  });

  it('counts every act that takes a node down where no action is named', () => {
    expect(isCountedBy(clustersLimit(), ask({ action: 'UpdateComponent', risk: 'Node' }))).toBe(true);
    expect(isCountedBy(clustersLimit(), ask({ action: 'UpdateComponent', risk: 'Pod' }))).toBe(false);
    expect(isCountedBy(rebootsLimit(), ask({ action: 'Reboot' }))).toBe(true);
    expect(isCountedBy(rebootsLimit(), ask({ action: 'UpdateComponent', risk: 'Node' }))).toBe(false);
  });

  it('counts acts in work as one, and settled ones no more', () => {
    const grants = { 'm-1': entry('m-1'), 'm-2': entry('m-2') };
    expect(usedOf(ledgerSpec({ grants }), clustersLimit(), NOW)).toBe(1);
    const settled = { 'm-1': entry('m-1', { state: 'Settled', settledAt: ago(10) }) };
    expect(usedOf(ledgerSpec({ grants: settled }), clustersLimit(), NOW)).toBe(0);
  });

  it('counts the acts of a rate until they leave its period', () => {
    const rate = countAct(countAct(undefined, { windowSeconds: 3600 }, NOW), { windowSeconds: 3600 }, NOW);
    const ledger = ledgerSpec({ rates: { [fleetRateKey(rebootsLimit())]: rate } });
    expect(usedOf(ledger, rebootsLimit(), NOW)).toBe(2);
    expect(usedOf(ledger, rebootsLimit(), new Date(+NOW + 4_000_000))).toBe(0);
  });
});
