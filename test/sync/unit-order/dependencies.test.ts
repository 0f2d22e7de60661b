import { describe, expect, it } from 'vitest';
import { ANNOTATION_DEPENDS_ON } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { RenderedObject } from '../../../src/sync/rendered.ts';
import {
  dependencyNames,
  unitDependencies,
  withSharedDependencies,
} from '../../../src/sync/unit-order/dependencies.ts';
import { configMap, unit } from '../apply/fixtures.ts';
import { dependentUnit, dependsOn } from './fixtures.ts';

describe('dependencyNames', () => {
  it.each([
    ['no annotation', undefined, []],
    ['one name', 'db', ['db']],
    ['several names with blanks', ' db ,network', ['db', 'network']],
    ['a missing name', 'db,', ['db', '']],
    ['an empty annotation', '', ['']],
  ])('S13 reads the dependencies of an object with %s', (_, text, expected) => {
    const object = text === undefined ? configMap('a') : dependsOn(configMap('a'), text);
    expect(dependencyNames(object)).toEqual(expected);
  });
});

function rendered(object: KubeObject): RenderedObject {
  return { object, source: {} };
}

describe('withSharedDependencies', () => {
  it('S13 puts the dependencies of one object on every object of its unit, so that a delete of one forgets none', () => {
    const objects = [dependsOn(configMap('a'), 'db'), dependsOn(configMap('b'), 'net, db'), configMap('c')];
    const shared = withSharedDependencies(objects.map(rendered));
    expect(shared.map(({ object }) => object.metadata.annotations)).toEqual(
      objects.map(() => ({ [ANNOTATION_DEPENDS_ON]: 'db, net' })),
    );
  });

  it('leaves a unit without dependencies as it is, so that its digest stays', () => {
    const objects = [rendered(configMap('a'))];
    expect(withSharedDependencies(objects)).toBe(objects);
  });
});

describe('unitDependencies', () => {
  it('S13 names the units of the hub with the prefix of their Pipeline', () => {
    const units = [unit('fleet.db', [configMap('a')]), dependentUnit('fleet.web', 'db')];
    expect(unitDependencies(units)).toEqual(new Map([['fleet.web', new Set(['fleet.db'])]]));
  });
});
