import { describe, expect, it } from 'vitest';
import { installation } from '../../../src/api/install/installation.ts';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { PRUNED_KINDS, planPrune } from '../../../src/api/install/prune.ts';
import { LABEL_MANAGED_BY, MANAGED_BY, MANAGER_INSTALL } from '../../../src/api/names.ts';
import type { KubeObject, ManagedFields, Metadata } from '../../../src/kube/objects/object.ts';

const OURS = { [LABEL_MANAGED_BY]: MANAGED_BY };
const OLD = 'delete: an earlier version installed it, and this one does not have it';

function applied(manager: string, ...labels: readonly string[]): ManagedFields {
  const fields = Object.fromEntries(labels.map((label) => [`f:${label}`, {}]));
  return { manager, operation: 'Apply', fieldsV1: { 'f:metadata': { 'f:labels': fields } } };
}

/** As an earlier version left it. */
function old(change: Partial<Metadata> = {}, kind = 'RoleBinding'): KubeObject {
  const metadata = {
    name: 'kubenode-events',
    namespace: 'kubenode-system',
    labels: OURS,
    managedFields: [applied(MANAGER_INSTALL, LABEL_MANAGED_BY)],
    ...change,
  };
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata };
}

function explain(live: KubeObject, declared = installation()): string {
  return planPrune([live], declared)
    .map(({ act, because }) => `${act}: ${because}`)
    .join('; ');
}

describe('planPrune', () => {
  const person = applied('kubectl', LABEL_MANAGED_BY);
  const install = applied(MANAGER_INSTALL, LABEL_MANAGED_BY);
  it.each<[name: string, object: KubeObject, expected: string]>([
    ['deletes what an earlier version installed', old(), OLD],
    [
      'deletes it where a controller of the server wrote it, too',
      old({ managedFields: [install, { ...applied('kube-controller-manager'), operation: 'Update' }] }),
      OLD,
    ],
    [
      'keeps what has no such label',
      old({ labels: {} }),
      'keep: it has no label app.kubernetes.io/managed-by=kubenode',
    ],
    [
      'keeps what another program manages',
      old({ labels: { [LABEL_MANAGED_BY]: 'Helm' } }),
      'keep: it has no label app.kubernetes.io/managed-by=kubenode',
    ],
    [
      'keeps an object of a person with a copied label',
      old({ managedFields: [person] }),
      'keep: kubenode install did not set its label',
    ],
    [
      'keeps an object of which install owns other fields',
      old({ managedFields: [person, applied(MANAGER_INSTALL)] }),
      'keep: kubenode install did not set its label',
    ],
    [
      'keeps an object without field managers',
      old({ managedFields: [] }),
      'keep: kubenode install did not set its label',
    ],
    [
      'keeps what another manager applies, too',
      old({ managedFields: [install, person] }),
      'keep: kubectl applies it, too',
    ],
    [
      'waits for what is being deleted',
      old({ deletionTimestamp: '2030-01-01T00:00:00Z' }),
      'keep: it is being deleted',
    ],
    [
      'never deletes a CRD',
      old({}, 'CustomResourceDefinition'),
      'keep: kind CustomResourceDefinition is never removed',
    ],
    ['never deletes a Namespace', old({}, 'Namespace'), 'keep: kind Namespace is never removed'],
    ['never deletes a Deployment', old({}, 'Deployment'), 'keep: kind Deployment is never removed'],
  ])('%s', (_, object, expected) => {
    expect(explain(object)).toBe(expected);
  });

  it('leaves every declared object alone, and knows two namespaces apart', () => {
    const [declared] = installation().filter(
      ({ kind, metadata }) => kind === 'RoleBinding' && metadata.name === 'kubenode-events',
    );
    const { namespace = '' } = declared?.metadata ?? {};
    expect(namespace).toBe('default');
    expect(explain(old({ namespace }))).toBe('');
    expect(planPrune(installation(), installation())).toEqual([]);
  });

  it('covers only kinds that an installation writes, bindings before what they refer to', () => {
    const written = installation().map((object) => JSON.stringify(resourceOf(object)));
    for (const kind of PRUNED_KINDS) {
      expect(written.map((text) => JSON.parse(text) as unknown)).toContainEqual(kind);
    }
    expect(PRUNED_KINDS.map(({ kind }) => kind)).toEqual([
      'ValidatingAdmissionPolicyBinding',
      'ValidatingAdmissionPolicy',
      'ClusterRoleBinding',
      'RoleBinding',
      'ClusterRole',
      'Role',
      'ServiceAccount',
    ]);
  });
});
