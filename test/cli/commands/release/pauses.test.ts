import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import {
  checkUnit,
  parseObjectName,
  withoutPause,
  withPause,
} from '../../../../src/cli/commands/release/pauses.ts';
import { cluster } from '../builders.ts';

const OTHER = { name: 'other', by: 'bert', reason: 'disk' };
const ANNA = { by: 'anna', reason: 'ticket 7', since: '2030-01-01T00:00:00Z' };
const WHOLE = { name: 'release-halt', ...ANNA };
const SHOP = { name: 'release-halt.shop', unit: 'shop', ...ANNA };
const OBJECT = 'Deployment/shop/web';
const OF_OBJECT = { name: 'release-halt.object.b7190d45204d5caa', object: OBJECT, ...ANNA };

describe('withPause', () => {
  it.each([
    ['the whole cluster', [OTHER], {}, [OTHER, WHOLE]],
    ['a unit, beside a pause of the cluster', [WHOLE], { unit: 'shop' }, [WHOLE, SHOP]],
    ['a unit again', [{ ...SHOP, by: 'bert' }, OTHER], { unit: 'shop' }, [OTHER, SHOP]],
    ['an object, beside a pause of its unit', [SHOP], { object: OBJECT }, [SHOP, OF_OBJECT]],
    ['an object again', [{ ...OF_OBJECT, by: 'bert' }], { object: OBJECT }, [OF_OBJECT]],
  ])('pauses %s', (_, pauses, part, expected) => {
    expect(withPause(pauses, { ...ANNA, ...part })).toEqual(expected);
  });

  it('names the pause of an object with a long name within the limit of the kind', () => {
    const [pause] = withPause([], { ...ANNA, object: `Deployment/shop/${'x'.repeat(253)}` });
    expect(pause?.name.length).toBeLessThanOrEqual(127);
  });
});

describe('withoutPause', () => {
  const named = { ...OTHER, unit: 'shop' };
  const ofObject = { ...named, object: 'ConfigMap default/a' };
  it.each([
    ['the whole cluster, and leaves paused parts and the pauses of others', {}, [SHOP, OF_OBJECT, OTHER]],
    ['a unit', { unit: 'shop' }, [WHOLE, OF_OBJECT, OTHER]],
    ['an object', { object: OBJECT }, [WHOLE, SHOP, OTHER]],
    ['no object of another name', { object: 'Deployment/shop/we' }, [WHOLE, SHOP, OF_OBJECT, OTHER]],
  ])('resumes %s', (_, part, expected) => {
    expect(withoutPause([WHOLE, SHOP, OF_OBJECT, OTHER], part)).toEqual(expected);
  });

  it('resumes a unit that another client paused, and no object', () => {
    expect(withoutPause([named, ofObject], { unit: 'shop' })).toEqual([ofObject]);
  });

  it('resumes an object that another client paused', () => {
    expect(withoutPause([named, { ...OF_OBJECT, name: 'mine' }], { object: OBJECT })).toEqual([named]);
  });
});

describe('parseObjectName', () => {
  it.each([
    ['Deployment/shop/web', 'Deployment/shop/web'],
    ['ClusterRole/system:node', 'ClusterRole/system:node'],
    ['apps/Deployment shop/web', 'Deployment/shop/web'],
    ['ConfigMap default/a', 'ConfigMap/default/a'],
    ['Namespace shop', 'Namespace/shop'],
  ])('reads %s, as people write it or as the status prints it', (text, expected) => {
    expect(parseObjectName(text)).toBe(expected);
  });

  it.each([
    '',
    'web',
    'Deployment',
    'Deployment/',
    'Deployment/shop/web/x',
    '/shop/web',
    'a b c',
    `C/${'x'.repeat(319)}`,
  ])('refuses %j and names what is expected', (text) => {
    expect(() => parseObjectName(text)).toThrow('Expected an object as Kind/namespace/name');
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
