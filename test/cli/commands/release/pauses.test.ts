import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { checkUnit, withoutPause, withPause } from '../../../../src/cli/commands/release/pauses.ts';
import { cluster } from '../builders.ts';

const OTHER = { name: 'other', by: 'bert', reason: 'disk' };
const ANNA = { by: 'anna', reason: 'ticket 7', since: '2030-01-01T00:00:00Z' };
const WHOLE = { name: 'release-halt', ...ANNA };
const SHOP = { name: 'release-halt.shop', unit: 'shop', ...ANNA };

describe('withPause', () => {
  it.each([
    ['the whole cluster', [OTHER], undefined, [OTHER, WHOLE]],
    ['a unit, beside a pause of the cluster', [WHOLE], 'shop', [WHOLE, SHOP]],
    ['a unit again', [{ ...SHOP, by: 'bert' }, OTHER], 'shop', [OTHER, SHOP]],
  ])('pauses %s', (_, pauses, unit, expected) => {
    expect(withPause(pauses, { ...ANNA, ...(unit === undefined ? {} : { unit }) })).toEqual(expected);
  });
});

describe('withoutPause', () => {
  const named = { ...OTHER, unit: 'shop' };
  const ofObject = { ...named, object: 'ConfigMap default/a' };
  it.each([
    ['the whole cluster, and leaves paused units and the pauses of others', undefined, [SHOP, OTHER]],
    ['a unit', 'shop', [WHOLE, OTHER]],
  ])('resumes %s', (_, unit, expected) => {
    expect(withoutPause([WHOLE, SHOP, OTHER], unit)).toEqual(expected);
  });

  it('resumes a unit that another client paused, and no object', () => {
    expect(withoutPause([named, ofObject], 'shop')).toEqual([ofObject]);
  });
});

function withUnits(units: readonly string[], pauses: readonly object[] = []): Cluster {
  return { ...cluster({ units }), spec: { pauses } } as never;
}

describe('checkUnit', () => {
  it.each([
    ['a unit of the cluster', withUnits(['shop'])],
    ['a unit that is paused and not there any more', withUnits(['web'], [SHOP])],
    ['any unit where there are too many to list', withUnits(Array.from({ length: 500 }, () => 'x'))],
  ])('accepts %s', (_, object) => {
    expect(() => checkUnit(object, 'shop')).not.toThrow();
  });

  it.each([
    ['lists the known units', withUnits(['web', 'db']), 'use one of: db, web'],
    ['names sync before its first reconcile', withUnits([]), 'sync has not recorded its units yet'],
  ])('refuses an unknown unit and %s', (_, object, hint) => {
    expect(() => checkUnit(object, 'shop')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(hint) as string }),
    );
  });
});
