import { describe, expect, it } from 'vitest';
import type { LedgerPendingApproval } from '../../../src/api/generated/types.ts';
import { findAct } from '../../../src/defender/approvals/find-act.ts';
import { ago } from '../builders.ts';

function pending(machine: string, action: string, name: string): LedgerPendingApproval {
  return { machine, action, risk: 'Data', holder: { kind: 'Other', name }, since: ago(60) };
}

const WAITING = [
  pending('m-1', 'WipeDisk', 'alice'),
  pending('m-2', 'WipeDisk', 'alice'),
  pending('m-2', 'Reboot', 'bob'),
];
const CAROL = { kind: 'Machine', name: 'carol' } as const;

describe('findAct', () => {
  it.each([
    ['m-1', {}, 'WipeDisk Data Other alice'],
    ['m-2', { action: 'Reboot' }, 'Reboot Data Other bob'],
    ['m-2', { holder: { kind: 'Other', name: 'alice' } }, 'WipeDisk Data Other alice'],
    ['m-1', { action: 'DeleteMachine', holder: CAROL }, 'DeleteMachine Machine Machine carol'],
    ['m-1', { action: 'DeleteMachine', holder: CAROL, risk: 'Data' }, 'DeleteMachine Data Machine carol'],
    ['m-9', {}, 'NothingWaits: no act on machine m-9 waits for an approval'],
    ['m-1', { action: 'Reboot' }, 'NothingWaits: no act on machine m-1 waits for an approval'],
    [
      'm-2',
      {},
      'SeveralWait: several acts wait for an approval: WipeDisk of m-2 by Other alice; Reboot of m-2 by Other bob',
    ],
  ] as const)('finds the act on %s for %o', (machine, named, expected) => {
    const found = findAct(WAITING, { machine, ...named });
    const text =
      'act' in found
        ? `${found.act.action} ${found.act.risk} ${found.act.holder.kind} ${found.act.holder.name}`
        : `${found.reason}: ${found.message}`;
    expect(text).toBe(expected);
  });
});
