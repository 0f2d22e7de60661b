import { describe, expect, it } from 'vitest';
import type { LedgerGrant } from '../../src/api/generated/types.ts';
import { grantFromEntry, hostedControlPlaneKey, isNewLedger } from '../../src/api/grants.ts';
import { initialLedger } from '../../src/api/policies/ledger.ts';

const entry: LedgerGrant = {
  id: 'g-1',
  fence: 7,
  state: 'Granted',
  holder: { kind: 'MachineSet', name: 'general' },
  action: 'DeleteMachine',
  risk: 'Machine',
  issuedAt: '2026-11-20T07:00:05Z',
  notAfter: '2026-11-20T07:05:05Z',
};
const empty = { grants: {}, gone: {}, rates: {}, breakers: {}, approvals: {}, recovering: false };

describe('grantFromEntry', () => {
  it('returns the fields that a holder copies into its objects, and no others of the ledger', () => {
    expect(grantFromEntry('n17', entry)).toEqual({
      granted: true,
      id: 'g-1',
      fence: 7,
      machine: 'n17',
      action: 'DeleteMachine',
      risk: 'Machine',
      issuedAt: '2026-11-20T07:00:05Z',
      notAfter: '2026-11-20T07:05:05Z',
    });
  });
});

describe('isNewLedger', () => {
  it('is true of the ledger that an installation creates', () => {
    expect(isNewLedger({ ...empty, ...(initialLedger['spec'] as { seq: number; epoch: number }) })).toBe(
      true,
    );
  });

  it.each([
    ['was written', { seq: 1, epoch: 0 }],
    ['was taken over', { seq: 0, epoch: 1 }],
    ['holds a grant', { seq: 0, epoch: 0, grants: { n17: entry } }],
  ])('is false of a ledger that %s', (_, spec) => {
    expect(isNewLedger({ ...empty, ...spec })).toBe(false);
  });
});

it('hostedControlPlaneKey differs from every machine name, which has no colon', () => {
  expect(hostedControlPlaneKey('prod-eu-1')).toBe('cluster:prod-eu-1');
});
