import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../../src/api/generated/types.ts';
import { MANAGER_SYNC } from '../../../../../src/api/names.ts';
import { requireDeletable } from '../../../../../src/cli/commands/cluster/hosted/deletable.ts';
import { hostedCluster } from '../../../../support/hosting/objects.ts';

const PROTECTED = { deletion: { protection: true } };

function fromGit(): Cluster {
  const managedFields = [
    { manager: MANAGER_SYNC, operation: 'Apply' as const, fieldsV1: { 'f:spec': { 'f:environment': {} } } },
  ];
  return hostedCluster({ metadata: { managedFields } });
}

function synced(): Cluster {
  const { hosted: _, ...spec } = hostedCluster().spec;
  return { ...hostedCluster(), spec };
}

function deleting(cluster: Cluster): Cluster {
  return { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } };
}

describe('a hosted cluster that a person deletes', () => {
  it.each<readonly [string, Cluster, string | undefined]>([
    ['is not protected', hostedCluster(), undefined],
    ['is not protected, and its name was repeated', hostedCluster(), 'ci'],
    ['is protected, and its name was repeated', hostedCluster(PROTECTED), 'ci'],
    ['is protected, and is being deleted', deleting(hostedCluster(PROTECTED)), undefined],
    ['is declared in git, and is being deleted', deleting(fromGit()), undefined],
  ])('may be one that %s', (_, cluster, confirm) => {
    expect(requireDeletable(cluster, confirm)).toBeUndefined();
  });

  it.each<readonly [string, Cluster, string | undefined, string]>([
    ['is protected', hostedCluster(PROTECTED), undefined, 'Cluster ci is protected'],
    ['is another one than was repeated', hostedCluster(PROTECTED), 'c1', 'Cluster ci is not "c1"'],
    ['is unprotected, and another one was repeated', hostedCluster(), 'c1', 'Cluster ci is not "c1"'],
    ['is declared in git', fromGit(), 'ci', 'Cluster ci is declared in git'],
    ['is only synced', synced(), 'ci', 'Cluster ci is not hosted'],
    ['is only synced, and is being deleted', deleting(synced()), 'ci', 'Cluster ci is not hosted'],
  ])('may not be one that %s', (_, cluster, confirm, message) => {
    expect(() => requireDeletable(cluster, confirm)).toThrow(message);
  });
});
