import { expect, expectTypeOf, it } from 'vitest';
import { constantName } from '../../../src/api/generate/resources.ts';
import { CLUSTERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../src/api/generated/types.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';

it.each([
  ['Cluster', 'clusters', 'CLUSTERS'],
  ['RemedyOperationJob', 'remedyoperationjobs', 'REMEDY_OPERATION_JOBS'],
  ['DefenderPolicy', 'defenderpolicies', 'DEFENDER_POLICIES'],
])('names the constant of %s after its plural', (kind, plural, constant) => {
  expect(constantName({ kind, plural })).toBe(constant);
});

it('ties a kind to the type of its objects', () => {
  expectTypeOf(CLUSTERS).toEqualTypeOf<Resource<Cluster>>();
  expectTypeOf(MACHINES).toExtend<Resource>();
  expectTypeOf(MACHINES).not.toExtend<Resource<Cluster>>();
});
