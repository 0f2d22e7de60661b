import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';
import { lockedReason, readLockedReason } from '../../../../src/sync/apply/replace/locked.ts';
import { configMap } from '../fixtures.ts';

const SETS = { 'f:immutable': {} };
const BY_HAND: ManagedFields = { manager: 'kubectl-edit', operation: 'Update', fieldsV1: SETS };
const BY_GIT: ManagedFields = { manager: 'kubenode-sync', operation: 'Apply', fieldsV1: SETS };
const DATA_BY_GIT: ManagedFields = { ...BY_GIT, fieldsV1: { 'f:data': { 'f:key': {} } } };

function found(immutable: unknown, managedFields: readonly ManagedFields[]): KubeObject {
  const { metadata, ...rest } = configMap('a');
  return { ...rest, immutable, metadata: { ...metadata, managedFields } };
}

describe('lockedReason', () => {
  it('S40 names who made the object immutable in the cluster, and what to do', () => {
    const reason = lockedReason(found(true, [DATA_BY_GIT, BY_HAND]));
    expect(reason).toContain('kubectl-edit made it immutable in the cluster');
    expect(reason).toContain('Delete it, and sync creates it as git declares');
  });

  it.each<[name: string, object: KubeObject]>([
    ['git made it immutable', found(true, [BY_GIT])],
    ['git made it immutable, and somebody set the same', found(true, [BY_GIT, BY_HAND])],
    ['it is not immutable', found(false, [DATA_BY_GIT, BY_HAND])],
    ['the field is missing', found(undefined, [DATA_BY_GIT])],
    ['no manager is known for the field', found(true, [DATA_BY_GIT])],
    ['a manager names no fields', found(true, [{ manager: 'odd', operation: 'Update' }])],
  ])('holds no replacement where %s', (_name, object) => {
    expect(lockedReason(object)).toBeUndefined();
  });
});

const resourceFor = async () => ({ version: 'v1', plural: 'configmaps', kind: 'ConfigMap' }) as never;

const reading = (code: 'NotFound' | 'Forbidden') => ({
  resourceFor,
  get: async () => {
    throw new KubeError(code, 'refused');
  },
});

describe('readLockedReason', () => {
  it('holds nothing for an object that is not found', async () => {
    expect(await readLockedReason(reading('NotFound'), { object: configMap('a') })).toBeUndefined();
  });

  it('does not take an answer that it did not get for a free way', async () => {
    await expect(readLockedReason(reading('Forbidden'), { object: configMap('a') })).rejects.toThrow(
      'refused',
    );
  });
});
