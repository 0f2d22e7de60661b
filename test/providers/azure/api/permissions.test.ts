import { expect, it } from 'vitest';
import { isActionPermitted, type RolePermission } from '../../../../src/providers/azure/api/permissions.ts';

const READ = 'Microsoft.Compute/virtualMachines/read';

function role(actions: readonly string[], notActions: readonly string[] = []): RolePermission {
  return { actions: [...actions], notActions: [...notActions] };
}

it.each<[name: string, permissions: readonly RolePermission[], expected: boolean]>([
  ['no role', [], false],
  ['the action itself', [role([READ])], true],
  ['another case', [role(['microsoft.compute/VIRTUALMACHINES/read'])], true],
  ['everything', [role(['*'])], true],
  ['all reads', [role(['*/read'])], true],
  ['everything of the type', [role(['Microsoft.Compute/virtualMachines/*'])], true],
  ['another action of the type', [role(['Microsoft.Compute/virtualMachines/write'])], false],
  ['a longer action', [role([`${READ}/more`])], false],
  ['the beginning of the action', [role(['Microsoft.Compute/virtualMachines'])], false],
  ['another character in place of a dot', [role(['MicrosoftXCompute/virtualMachines/read'])], false],
  ['everything but this', [role(['*'], ['Microsoft.Compute/*'])], false],
  ['everything but this, and this by another role', [role(['*'], ['*/read']), role([READ])], true],
])('an action with a role that permits %s', (_, permissions, expected) => {
  expect(isActionPermitted(READ, permissions)).toBe(expected);
});
