import { describe, expect, it } from 'vitest';
import { objectIdOf } from '../../../../src/kube/objects/object-id.ts';
import {
  type InventoryEntry,
  inventoryUnits,
  missingIntents,
  parseEntries,
  serializeEntries,
  spentAfter,
} from '../../../../src/sync/apply/inventory/inventory.ts';
import { applyInput, configMap, entry } from '../fixtures.ts';

const a = configMap('a');
const CONFIRMED = { commit: entry(a).commit, applied: entry(a).applied ?? '' };
const intent: InventoryEntry = { ...objectIdOf(a), version: 'v1', unit: 'web', commit: 'new' };

function inventoryOf(...inventory: InventoryEntry[]): ReturnType<typeof applyInput>['inventory'] {
  return applyInput({ inventory }).inventory;
}

function entryWithout(item: InventoryEntry, field: keyof InventoryEntry): InventoryEntry {
  const entries = Object.entries(item).filter(([name]) => name !== field);
  return Object.fromEntries(entries) as unknown as InventoryEntry;
}

describe('missingIntents', () => {
  it.each<[name: string, present: InventoryEntry[], expected: InventoryEntry[]]>([
    ['S1 includes a new object', [], [intent]],
    ['omits an object that is listed already', [entry(a)], []],
    [
      'S5 includes a moved object with its previous unit',
      [entry(a, { unit: 'other' })],
      [{ ...intent, from: 'other', uid: 'uid-a', before: CONFIRMED }],
    ],
    [
      'remembers what was confirmed when an object moves twice before it is written',
      [entryWithout(entry(a, { unit: 'other', before: CONFIRMED }), 'applied')],
      [{ ...intent, from: 'other', uid: 'uid-a', before: CONFIRMED }],
    ],
    [
      'includes an object in another version of its kind',
      [entry(a, { version: 'v1beta1' })],
      [{ ...intent, uid: 'uid-a', before: CONFIRMED }],
    ],
    [
      'includes an object that was marked for deletion before it came back',
      [entry(a, { markedAt: '2030-01-01T00:00:00Z' })],
      [{ ...intent, uid: 'uid-a', before: CONFIRMED }],
    ],
    [
      'includes an object whose delete was acknowledged before it came back',
      [entry(a, { acknowledgedBy: 'sha256:1' })],
      [{ ...intent, uid: 'uid-a', before: CONFIRMED }],
    ],
  ])('%s', (_name, present, expected) => {
    expect(missingIntents(inventoryOf(...present), [intent])).toEqual(expected);
  });
});

describe('serializeEntries', () => {
  const entries = [entry(configMap('b')), entry(a)];

  it('writes one line for each entry, sorted by key', () => {
    const names = serializeEntries(entries)
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as InventoryEntry).name);
    expect(names).toEqual(['a', 'b']);
    expect(serializeEntries(entries.toReversed())).toBe(serializeEntries(entries));
  });

  it('is read back without a loss', () => {
    expect(parseEntries(serializeEntries(entries))).toEqual(entries.toReversed());
  });

  it.each([
    ['{', 'JSON'],
    ['{}', 'expected an inventory entry'],
    ['[]', 'expected an inventory entry'],
    ['{"name":"a"}', 'expected an inventory entry'],
  ])('S3 rejects a damaged inventory: %s', (line, message) => {
    expect(() => parseEntries(`${serializeEntries(entries)}${line}\n`)).toThrow(message);
  });
});

it('lists each unit once, sorted', () => {
  const inventory = inventoryOf(entry(a), entry(configMap('b')), entry(configMap('c'), { unit: 'app' }));
  expect(inventoryUnits(inventory)).toEqual(['app', 'web']);
});

it.each([
  ['none', [], [], undefined],
  ['one that is known', ['b'], ['b'], undefined],
  ['new ones, before the known', ['a', 'b', 'c', 'a'], ['b'], ['a', 'c', 'b']],
])('spends %s', (_, ids, spent, expected) => {
  const entries = ids.map((acknowledgedBy) => entry(a, { acknowledgedBy }));
  expect(spentAfter({ spent }, entries)).toEqual(expected);
});

it('remembers the last 80 spent acknowledgements', () => {
  const spent = Array.from({ length: 80 }, (_, index) => `old-${index}`);
  const after = spentAfter({ spent }, [entry(a, { acknowledgedBy: 'new' })]);
  expect([after?.length, after?.[0], after?.at(-1)]).toEqual([80, 'new', 'old-78']);
});
