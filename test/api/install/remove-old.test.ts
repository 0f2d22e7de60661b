import { describe, expect, it } from 'vitest';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { removeOld } from '../../../src/api/install/remove-old.ts';
import { LABEL_MANAGED_BY, MANAGED_BY, MANAGER_INSTALL } from '../../../src/api/names.ts';
import type { Client, DeleteOptions } from '../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';

function old(kind: string, name: string): KubeObject {
  const fields = { 'f:metadata': { 'f:labels': { [`f:${LABEL_MANAGED_BY}`]: {} } } };
  const metadata = {
    name,
    uid: `uid-of-${name}`,
    resourceVersion: '7',
    labels: { [LABEL_MANAGED_BY]: MANAGED_BY },
    managedFields: [{ manager: MANAGER_INSTALL, operation: 'Apply' as const, fieldsV1: fields }],
  };
  return { apiVersion: RBAC, kind, metadata };
}

const OLD = [old('ClusterRole', 'a'), old('ClusterRole', 'b'), old('ClusterRoleBinding', 'c')];

/** Lists as the API server does, without kinds; refuses by name or, to list, by kind. */
function fakeClient(refusals: Readonly<Record<string, KubeErrorCode>> = {}) {
  const deleted: string[] = [];
  const refuse = (name: string): void => {
    const code = refusals[name];
    if (code !== undefined) throw new KubeError(code, `refused: ${name}`);
  };
  const client = {
    async *pages({ kind, plural }: { kind: string; plural: string }) {
      refuse(kind);
      const items = OLD.filter((object) => resourceOf(object).plural === plural);
      yield await Promise.resolve({
        items: items.map(({ metadata }) => ({ metadata })),
        resourceVersion: '9',
      });
    },
    delete: async (
      _: unknown,
      { name }: { name: string },
      { uid, resourceVersion, dryRun }: DeleteOptions,
    ) => {
      await Promise.resolve();
      refuse(name);
      deleted.push(`${name} ${uid} ${resourceVersion}${dryRun === true ? ' dry run' : ''}`);
    },
  } as unknown as Pick<Client, 'pages' | 'delete'>;
  return { client, deleted };
}

describe('removeOld', () => {
  it('deletes bindings first, each only as it was judged', async () => {
    const { client, deleted } = fakeClient();
    const removed = await removeOld(client, [], { dryRun: false });
    expect(removed.map(({ object, outcome }) => `${object.kind} ${outcome}`)).toEqual([
      'ClusterRoleBinding deleted',
      'ClusterRole deleted',
      'ClusterRole deleted',
    ]);
    expect(deleted).toEqual(['c uid-of-c 7', 'a uid-of-a 7', 'b uid-of-b 7']);
  });

  it('has the server validate it in a dry run', async () => {
    const { client, deleted } = fakeClient();
    await removeOld(client, OLD.slice(1), { dryRun: true });
    expect(deleted).toEqual(['a uid-of-a 7 dry run']);
  });

  it('continues after one that changed in between, and counts one that is not found as deleted', async () => {
    const { client, deleted } = fakeClient({ c: 'Conflict', a: 'NotFound' });
    const removed = await removeOld(client, [], { dryRun: false });
    expect(removed.map(({ outcome, error }) => error?.message ?? outcome)).toEqual([
      'refused: c',
      'deleted',
      'deleted',
    ]);
    expect(deleted).toEqual(['b uid-of-b 7']);
  });

  it('deletes nothing unless every kind can be listed', async () => {
    const { client, deleted } = fakeClient({ ServiceAccount: 'Forbidden' });
    await expect(removeOld(client, [], { dryRun: false })).rejects.toThrow('refused: ServiceAccount');
    expect(deleted).toEqual([]);
  });
});
