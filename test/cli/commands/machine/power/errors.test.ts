import { describe, expect, it } from 'vitest';
import type { LedgerGrant } from '../../../../../src/api/generated/types.ts';
import {
  deniedError,
  inUseError,
  missedError,
  noSwitchError,
} from '../../../../../src/cli/commands/machine/power/errors.ts';

function grant(changes: Partial<LedgerGrant> = {}): LedgerGrant {
  return {
    id: 'g-1',
    fence: 1,
    holder: { kind: 'RemedyOperationJob', name: 'm1-dead-host' },
    action: 'PowerCycle',
    risk: 'Node',
    state: 'Started',
    issuedAt: '2030-01-01T12:00:00Z',
    notAfter: '2030-01-01T12:10:00Z',
    ...changes,
  };
}

describe('the errors of machine power', () => {
  it('name what is missing, what was not reached, and every reason of a denial', () => {
    const none = { because: 'Machine m1 has no BMC' };
    const withoutBmc = noSwitchError('m1', 'BMC', none);
    expect([withoutBmc.exitCode, withoutBmc.hint]).toEqual([65, expect.stringContaining('--via Provider')]);
    expect(noSwitchError('m1', 'Provider', none).hint).toContain('kubenode machine show m1');
    expect(missedError('m1', { state: 'On', missed: 'Off' }).message).toContain('is On, and not Off');
    const also = [{ reason: 'Held', message: 'new disks' }] as const;
    const denial = { granted: false, reason: 'WindowClosed', message: 'closed', also } as never;
    const error = deniedError('m1', denial);
    expect(error.message).toContain('WindowClosed: closed; Held: new disks');
    expect(error.exitCode).toBe(3);
  });
});

describe('to switch on', () => {
  it('is refused while a repair or another person acts on the machine', () => {
    expect(inUseError('m1', grant(), 'ann')?.message).toContain(
      'RemedyOperationJob m1-dead-host acts on machine m1',
    );
    expect(inUseError('m1', grant({ holder: { kind: 'Other', name: 'bob' } }), 'ann')?.exitCode).toBe(3);
  });

  it('is allowed without an act, after one that is settled, and in the own one', () => {
    expect(inUseError('m1', undefined, 'ann')).toBeUndefined();
    expect(inUseError('m1', grant({ state: 'Settled' }), 'ann')).toBeUndefined();
    expect(inUseError('m1', grant({ holder: { kind: 'Other', name: 'ann' } }), 'ann')).toBeUndefined();
  });
});
