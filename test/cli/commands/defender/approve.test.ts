import { describe, expect, it } from 'vitest';
import type { LedgerPendingApproval } from '../../../../src/api/generated/types.ts';
import { findAct, parseHolder } from '../../../../src/cli/commands/defender/approve.ts';
import { parseReason } from '../../../../src/cli/commands/defender/reason.ts';
import { ago } from '../../../defender/builders.ts';

function pending(machine: string, action: string, name: string): LedgerPendingApproval {
  return { machine, action, risk: 'Data', holder: { kind: 'Other', name }, since: ago(60) };
}

const WAITING = [
  pending('m-1', 'WipeDisk', 'alice'),
  pending('m-2', 'WipeDisk', 'alice'),
  pending('m-2', 'Reboot', 'bob'),
];
const CAROL = { kind: 'Machine', name: 'carol' } as const;

describe('defender approve', () => {
  it.each([
    ['m-1', {}, 'WipeDisk Data Other alice'],
    ['m-2', { action: 'Reboot' }, 'Reboot Data Other bob'],
    ['m-2', { holder: { kind: 'Other', name: 'alice' } }, 'WipeDisk Data Other alice'],
    ['m-1', { action: 'DeleteMachine', holder: CAROL }, 'DeleteMachine Machine Machine carol'],
    ['m-1', { action: 'DeleteMachine', holder: CAROL, risk: 'Data' }, 'DeleteMachine Data Machine carol'],
  ] as const)('finds the act on %s by %o', (machine, flags, expected) => {
    const { action, risk, holder } = findAct(WAITING, machine, flags);
    expect(`${action} ${risk} ${holder.kind} ${holder.name}`).toBe(expected);
  });

  it.each([
    ['m-9', {}, 'no act on machine m-9 waits for an approval'],
    ['m-1', { action: 'Reboot' }, 'no act on machine m-1 waits for an approval'],
    [
      'm-2',
      {},
      'several acts wait for an approval: WipeDisk of m-2 by Other alice; Reboot of m-2 by Other bob',
    ],
  ] as const)('names what waits on %s for %o', (machine, flags, message) => {
    expect(() => findAct(WAITING, machine, flags)).toThrow(
      expect.objectContaining({ message, hint: expect.stringContaining('--action ACTION') as string }),
    );
  });

  it('reads a holder and a reason, and refuses what the ledger could not keep', () => {
    expect(parseHolder('Other/system:serviceaccount:a:b')).toEqual({
      kind: 'Other',
      name: 'system:serviceaccount:a:b',
    });
    for (const text of ['alice', 'Other/', 'Person/alice']) expect(() => parseHolder(text)).toThrow('KIND');
    expect(parseReason(' checked ')).toBe('checked');
    for (const text of ['', '  ', 'x'.repeat(257)]) expect(() => parseReason(text)).toThrow('1 to 256');
  });
});
