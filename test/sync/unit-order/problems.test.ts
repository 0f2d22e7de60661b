import { describe, expect, it } from 'vitest';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';
import { unitOrderProblems } from '../../../src/sync/unit-order/problems.ts';
import { configMap, unit } from '../apply/fixtures.ts';
import { dependentUnit } from './fixtures.ts';

const db = unit('db', [configMap('db')]);

describe('unitOrderProblems', () => {
  it.each<[name: string, units: readonly RenderedUnit[], expected: readonly string[]]>([
    ['accepts a chain', [db, dependentUnit('web', 'db'), dependentUnit('app', 'web, db')], []],
    [
      'refuses an unknown name, and lists those that exist',
      [db, dependentUnit('web', 'dbb')],
      [
        'kubenode.dev/depends-on of unit web: no unit "dbb" is declared for test: use one of db, web, or declare it',
      ],
    ],
    [
      'refuses a missing name',
      [db, dependentUnit('web', 'db,')],
      [
        'kubenode.dev/depends-on of unit web: expected names of units with commas between them, got an empty name: remove it',
      ],
    ],
    [
      'refuses a name with other characters, escaped',
      [db, dependentUnit('web', 'd\nb')],
      [
        'kubenode.dev/depends-on of unit web: no unit "d\\nb" is declared for test: use one of db, web, or declare it',
      ],
    ],
    [
      'refuses a unit that depends on itself',
      [dependentUnit('web', 'web')],
      ['unit web waits for itself (web → web): remove one of these names from kubenode.dev/depends-on'],
    ],
    [
      'refuses a cycle with its path',
      [dependentUnit('app', 'web'), dependentUnit('db', 'app'), dependentUnit('web', 'db')],
      [
        'unit app waits for itself (app → web → db → app): remove one of these names from kubenode.dev/depends-on',
      ],
    ],
  ])('S13 names the problem of an order: %s', (_, units, expected) => {
    expect(unitOrderProblems('test', units).map(({ message }) => message)).toEqual(expected);
  });

  it('S13 shows only the start of a long name and of a long cycle', () => {
    const long = unitOrderProblems('test', [db, dependentUnit('web', 'x'.repeat(1000))]);
    const names = Array.from({ length: 50 }, (_, index) => `u-${index}`);
    const cycle = unitOrderProblems(
      'test',
      names.map((name, index) => dependentUnit(name, names.at(index - 1) ?? '')),
    );
    for (const { message } of [...long, ...cycle]) expect(message.length).toBeLessThan(250);
    expect([long.length, cycle.length]).toEqual([1, 1]);
  });
});
