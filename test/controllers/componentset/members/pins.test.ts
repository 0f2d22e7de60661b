import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { MANAGER_CLI, MANAGER_COMPONENTSET } from '../../../../src/api/names.ts';
import { pinnedComponents } from '../../../../src/controllers/componentset/members/pins.ts';
import type { ManagedFields } from '../../../../src/kube/objects/object.ts';
import { component, machine } from '../../../support/builders.ts';
import { entriesOwnedBy, ownEntries } from '../managed-fields.ts';

const ENTRIES = ['kubelet', 'runc'].map((name) => ({
  ...component(name, '1.0'),
  state: 'Present' as const,
  parameters: {},
}));

function machineOf(managedFields: readonly ManagedFields[]): Machine {
  return machine('m-1', { metadata: { managedFields }, spec: { components: ENTRIES } });
}

describe('pinnedComponents', () => {
  it.each<[what: string, fields: readonly ManagedFields[], pinned: readonly string[]]>([
    ['none of our own entries', [ownEntries('kubelet', 'runc')], []],
    [
      'an entry that a person owns',
      [ownEntries('runc'), entriesOwnedBy(MANAGER_CLI, ['kubelet'])],
      ['kubelet'],
    ],
    ['an entry of an owner that the cache dropped', [ownEntries('runc')], ['kubelet']],
    [
      'an entry that a person forced over ours',
      [
        ownEntries('kubelet', 'runc'),
        { ...entriesOwnedBy('kubectl-edit', ['kubelet']), operation: 'Update' },
      ],
      ['kubelet'],
    ],
    [
      'a pin in which we only wrote a grant',
      [
        ownEntries('runc'),
        { ...entriesOwnedBy(MANAGER_COMPONENTSET, ['kubelet'], 'f:grant'), operation: 'Update' },
        entriesOwnedBy(MANAGER_CLI, ['kubelet']),
      ],
      ['kubelet'],
    ],
    [
      'no entry in which another manager owns other fields only',
      [ownEntries('kubelet', 'runc'), entriesOwnedBy('x', ['kubelet'], 'f:grant')],
      [],
    ],
    ['every entry when no owner is recorded', [], ['kubelet', 'runc']],
    [
      'every entry when the fields cannot be read',
      [{ manager: MANAGER_COMPONENTSET, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:components': [] } } }],
      ['kubelet', 'runc'],
    ],
  ])('ROL-06 finds these pins on a Machine: %s', (_what, fields, pinned) => {
    expect([...pinnedComponents(machineOf(fields))]).toEqual(pinned);
  });

  it('throws when the owners were not read: an apply without our own entries would remove them', () => {
    expect(() => pinnedComponents(machine('m-1'))).toThrow('the managedFields of Machine m-1 were not read');
  });
});
