import { describe, expect, it } from 'vitest';
import { keptMetadata } from '../../../src/kube/objects/object.ts';

const METADATA = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '7',
  labels: { pool: 'general' },
  annotations: { note: 'x' },
  generation: 3,
  managedFields: [],
};

describe('keptMetadata', () => {
  it('keeps identity and version, and the fields that are named', () => {
    expect(keptMetadata(METADATA)).toEqual({ name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7' });
    expect(keptMetadata(METADATA, 'labels', 'deletionTimestamp')).toEqual({
      name: 'a',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '7',
      labels: { pool: 'general' },
    });
  });

  it('adds no field that the object does not have', () => {
    expect(Object.keys(keptMetadata({ name: 'a' }, 'labels', 'ownerReferences'))).toEqual(['name']);
  });
});
