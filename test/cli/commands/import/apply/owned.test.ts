import { describe, expect, it } from 'vitest';
import { MANAGER_IMPORT, MANAGER_MACHINE, MANAGER_SYNC } from '../../../../../src/api/names.ts';
import { foreignMachineReason } from '../../../../../src/cli/commands/import/apply/owned.ts';

describe('foreignMachineReason', () => {
  it.each<[managers: readonly string[], deletionTimestamp: string | undefined, want: string | undefined]>([
    [[MANAGER_IMPORT], undefined, undefined],
    [['kubectl', MANAGER_IMPORT], undefined, undefined],
    [[MANAGER_SYNC], undefined, 'Machine n1 exists and comes from git: change it there'],
    [['kubectl'], undefined, 'Machine n1 exists and was made by kubectl: change it there'],
    [[], undefined, 'Machine n1 exists and was made by another program: change it there'],
    [[MANAGER_IMPORT], '2030-01-01T00:00:00Z', 'Machine n1 is being deleted: wait for the end of that'],
  ])('%j', (managers, deletionTimestamp, want) => {
    const managedFields = [
      { manager: MANAGER_MACHINE, operation: 'Apply', subresource: 'status' },
      ...managers.map((manager) => ({ manager, operation: 'Apply' })),
    ];
    const metadata = { name: 'n1', managedFields, ...(deletionTimestamp && { deletionTimestamp }) };
    expect(foreignMachineReason({ apiVersion: 'v1', kind: 'Machine', metadata } as never)).toBe(want);
  });
});
