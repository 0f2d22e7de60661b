import { describe, expect, it } from 'vitest';
import type { LedgerRate } from '../../../../src/api/generated/types.ts';
import { counterKey } from '../../../../src/defender/ledger/counter-key.ts';
import { createDraft, type LedgerDraft } from '../../../../src/defender/ledger/draft.ts';
import { hasRoom, setRate } from '../../../../src/defender/ledger/upkeep/bounds.ts';
import { ago, ledgerSpec } from '../../builders.ts';

const LIMIT: LedgerRate = { bucketSeconds: 300, firstBucketAt: ago(60), counts: [1] };
const NEW: LedgerRate = { ...LIMIT, counts: [2] };

describe('setRate', () => {
  it.each<[string, Record<string, LedgerRate>, string | undefined]>([
    ['drops outcomes without a failure first, the oldest of them', outcomes([0], [0, 0], [1]), 'p/b/0#acts'],
    ['keeps outcomes with a failure', outcomes([1], [0, 1], [1]), undefined],
  ])('%s, when the ledger holds no more counters', (_, acts, dropped) => {
    const draft = full(acts);
    setRate(draft, 'p/new/k', NEW);
    expect(Object.keys(draft.rates)).toHaveLength(128);
    expect(Object.hasOwn(draft.rates, 'p/new/k')).toBe(dropped !== undefined);
    expect(Object.keys(acts).filter((key) => !Object.hasOwn(draft.rates, key))).toEqual(
      dropped ? [dropped] : [],
    );
  });

  it('replaces a counter of a full ledger', () => {
    const draft = full({ 'p/new/k': LIMIT });
    setRate(draft, 'p/new/k', NEW);
    expect(draft.rates['p/new/k']).toEqual(NEW);
    expect(draft.changed).toBe(true);
  });
});

it('hasRoom knows names that every object has', () => {
  expect([hasRoom({}, 'constructor', 0), hasRoom({ a: 1 }, 'a', 1), hasRoom({ a: 1 }, 'b', 1)]).toEqual([
    false,
    true,
    false,
  ]);
});

/** Of breakers 0, 1, and so on: the first one acted last before the others. */
function outcomes(...counts: readonly (readonly number[])[]): Record<string, LedgerRate> {
  return Object.fromEntries(
    counts.map((each, index) => [
      counterKey(`p/b/${index}`, 'acts'),
      { bucketSeconds: 1, firstBucketAt: ago(90 - index), counts: [...each] },
    ]),
  );
}

function full(rates: Record<string, LedgerRate>): LedgerDraft {
  const others = Array.from(
    { length: 128 - Object.keys(rates).length },
    (_, n) => [`p/r/${n}`, LIMIT] as const,
  );
  return createDraft(ledgerSpec({ rates: { ...rates, ...Object.fromEntries(others) } }));
}
