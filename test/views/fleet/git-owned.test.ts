import { describe, expect, it } from 'vitest';
import { MANAGER_CLI, MANAGER_SYNC } from '../../../src/api/names.ts';
import type { ManagedFields } from '../../../src/kube/objects/object.ts';
import { commitText, gitOrigin, isSetByGit } from '../../../src/views/fleet/git-owned.ts';
import { machine } from '../../support/builders.ts';

const FIELDS = { 'f:spec': { 'f:hold': { 'f:reason': {} } } };

function ownedBy(fields: Partial<ManagedFields>) {
  return machine('m-1', {
    metadata: { managedFields: [{ manager: MANAGER_SYNC, operation: 'Apply', ...fields }] },
  });
}

describe('isSetByGit', () => {
  it.each([
    ['sync applied it', ownedBy({ fieldsV1: FIELDS }), true],
    ['sync applied another field', ownedBy({ fieldsV1: { 'f:spec': { 'f:zone': {} } } }), false],
    ['a person applied it', ownedBy({ fieldsV1: FIELDS, manager: MANAGER_CLI }), false],
    ['sync updated it without an apply', ownedBy({ fieldsV1: FIELDS, operation: 'Update' }), false],
    ['its owners are not recorded', machine('m-1'), false],
  ])('%s', (_, object, expected) => {
    expect(isSetByGit(object, 'spec', 'hold')).toBe(expected);
  });
});

describe('commitText', () => {
  it('prints the change as YAML, with commit and place', () => {
    const annotations = { 'kubenode.dev/commit': 'a'.repeat(40), 'kubenode.dev/source': 'fleet/prod.ts' };
    const object = machine('m-1', { metadata: { annotations } });
    expect(commitText(object, { spec: { hold: { reason: 'disk' } } })).toBe(
      `commit this to Machine m-1 in the fleet repository (commit ${'a'.repeat(12)}, fleet/prod.ts):
  spec:
    hold:
      reason: disk
`,
    );
    expect(gitOrigin(machine('m-1'))).toBe('its commit is not recorded');
  });
});
