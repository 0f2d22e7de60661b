import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec, LedgerBreaker } from '../../../src/api/generated/types.ts';
import { ledgerChanges } from '../../../src/defender/controller/changes.ts';
import { ago, ledgerSpec } from '../builders.ts';

const ID = 'fleet-default/unhealthy/zone a';
type State = LedgerBreaker['state'];

function withBreaker(state: State | undefined): ReturnType<typeof ledgerSpec> {
  if (state === undefined) return ledgerSpec();
  return ledgerSpec({ breakers: { [ID]: { state, since: ago(60), trips: 1, evidence: '5 of 9' } } });
}

function closed(seconds: number): Partial<DefenderLedgerSpec> {
  return { closures: { [ID]: { by: 'ann', reason: 'driver was fixed', at: ago(seconds) } } };
}

function noteOf(before: Partial<DefenderLedgerSpec>, after: Partial<DefenderLedgerSpec>): string | undefined {
  const [change] = ledgerChanges(
    { ...withBreaker('NeedsPerson'), ...before },
    { ...withBreaker(undefined), ...after },
  );
  return change?.event.note;
}

describe('ledgerChanges', () => {
  it.each([
    [undefined, 'Open', 'Warning DefenderBreakerOpened: breaker unhealthy/zone a opened: 5 of 9'],
    [
      'Open',
      'HalfOpen',
      'Normal DefenderBreakerHalfOpen: breaker unhealthy/zone a is half open: the next act is its probe',
    ],
    [
      'HalfOpen',
      'NeedsPerson',
      'Warning DefenderBreakerNeedsPerson: breaker unhealthy/zone a waits for a person: 5 of 9',
    ],
    ['NeedsPerson', undefined, 'Normal DefenderBreakerClosed: breaker unhealthy/zone a closed'],
  ] as const)('has an Event on the policy when a breaker goes from %s to %s', (before, after, text) => {
    const found = ledgerChanges(withBreaker(before), withBreaker(after));
    expect(found.map(({ event: { type, reason, note } }) => `${type} ${reason}: ${note}`)).toEqual([text]);
    expect(found.map(({ policy }) => policy)).toEqual(['fleet-default']);
  });

  it('names the person who closed a breaker, and not one who closed it earlier', () => {
    expect(noteOf(closed(900), closed(1))).toBe(
      'breaker unhealthy/zone a was closed by ann: driver was fixed',
    );
    expect(noteOf(closed(900), closed(900))).toBe('breaker unhealthy/zone a closed');
  });

  it('has none while nothing changes but the evidence', () => {
    const later = ledgerSpec({ breakers: { [ID]: { state: 'Open', since: ago(60), trips: 2 } } });
    expect(ledgerChanges(withBreaker('Open'), later)).toEqual([]);
  });

  it('R32 has an Event on the ledger when it begins to recover, and when it is complete again', () => {
    const recovering = ledgerSpec({ recovering: true, recoveringSince: ago(1) });
    expect(ledgerChanges(ledgerSpec(), recovering)).toMatchObject([
      { event: { type: 'Warning', reason: 'DefenderLedgerRecovering' } },
    ]);
    expect(ledgerChanges(recovering, ledgerSpec())).toMatchObject([
      { event: { type: 'Normal', reason: 'DefenderLedgerRecovered' } },
    ]);
    expect(ledgerChanges(ledgerSpec(), recovering)[0]).not.toHaveProperty('policy');
  });
});
