import { describe, expect, it } from 'vitest';
import { LABEL_ADDON, MANAGER_HOSTING, MANAGER_SYNC } from '../../../../src/api/names.ts';
import { isDeletable, notOursReason } from '../../../../src/controllers/hosting/addons/ownership.ts';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';

const OURS: ManagedFields = { manager: MANAGER_HOSTING, operation: 'Apply' };

interface LiveParts {
  readonly kind?: string;
  readonly label?: string | undefined;
  readonly manager?: ManagedFields;
  readonly namespace?: string;
}

function live({
  kind = 'ConfigMap',
  label,
  manager = OURS,
  namespace = 'kube-system',
}: LiveParts): KubeObject {
  const labels = label === undefined ? {} : { [LABEL_ADDON]: label };
  return { apiVersion: 'v1', kind, metadata: { name: 'a', namespace, labels, managedFields: [manager] } };
}

describe('the objects of an add-on', () => {
  it.each<readonly [name: string, parts: LiveParts, expected: string | undefined]>([
    ['is its own', { label: 'dns' }, undefined],
    ['lost its label', {}, undefined],
    ['was that of a dropped add-on', { label: 'dropped' }, undefined],
    ['is that of another add-on', { label: 'proxy' }, 'it belongs to the add-on proxy'],
    [
      'has the label, made by hand',
      { label: 'dns', manager: { manager: 'kubectl', operation: 'Update' } },
      'it was made by others',
    ],
    ['is that of sync', { manager: { manager: MANAGER_SYNC, operation: 'Apply' } }, 'it was made by others'],
    [
      'was patched by hosting only',
      { label: 'dns', manager: { ...OURS, operation: 'Update' } },
      'it was made by others',
    ],
  ])('HOS-51 an object may be written when it %s: %s', (_, parts, expected) => {
    expect(notOursReason(live(parts), 'dns', (addon) => addon === 'proxy')).toBe(expected);
  });

  it.each<readonly [name: string, parts: LiveParts, expected: boolean]>([
    ['is its own', { label: 'dns' }, true],
    ['lost its label', {}, false],
    ['moved to another add-on', { label: 'proxy' }, false],
    [
      'has the label, made by hand',
      { label: 'dns', manager: { manager: 'kubectl', operation: 'Update' } },
      false,
    ],
    ['is a namespace with the things of others', { label: 'dns', kind: 'Namespace' }, false],
    ['is a kind with the objects of others', { label: 'dns', kind: 'CustomResourceDefinition' }, false],
    ['has data', { label: 'dns', kind: 'PersistentVolumeClaim' }, false],
    ['is a volume', { label: 'dns', kind: 'PersistentVolume' }, false],
    ['is in a namespace of kubenode', { label: 'dns', namespace: 'kubenode-system' }, false],
  ])('HOS-51 an object is deleted with its add-on or not when it %s', (_, parts, expected) => {
    expect(isDeletable(live(parts), 'dns')).toBe(expected);
  });
});
