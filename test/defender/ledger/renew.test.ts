import { describe, expect, it } from 'vitest';
import type { DenialCause, GrantRenewal } from '../../../src/api/grants.ts';
import { createDraft, type LedgerDraft } from '../../../src/defender/ledger/draft.ts';
import { renewGrant } from '../../../src/defender/ledger/renew.ts';
import { createLedgerUsage } from '../../../src/defender/ledger/usage.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, breaker, entry, fleetFacts, ledgerSpec, machines, NOW, policy } from '../builders.ts';

const GRANTS = {
  'm-1': entry('m-1', { state: 'Granted' }),
  'm-2': entry('m-2', { state: 'Settled', settledAt: ago(5), outcome: 'Succeeded' }),
  'm-3': entry('m-3', { notAfter: ago(5) }),
  'm-4': entry('m-4', { state: 'Granted', notAfter: ago(5) }),
};
const FULL = policy({ concurrency: [{ name: 'l', per: 'Cluster', actions: [], max: 1 }] });
const SALE = { name: 'sale', from: ago(60), until: ago(-60), reason: 'sale', risks: [] };

describe('renewGrant', () => {
  it.each<[string, GrantRenewal, string]>([
    [
      'in time, whatever is in work beside it',
      { id: 'g-m-1', fence: 7 },
      'Started until 2030-01-01T12:05:00.000Z',
    ],
    ['past its end, while it counts', { id: 'g-m-3', fence: 7 }, 'Started until 2030-01-01T12:05:00.000Z'],
    ['with another fence', { id: 'g-m-1', fence: 6 }, 'AskInvalid: grant g-m-1 has fence 7, not 6'],
    ['of another id', { id: 'g-x', fence: 7 }, 'AskInvalid: grant g-x is not in the ledger: ask again'],
    ['after it was settled', { id: 'g-m-2', fence: 7 }, 'AskInvalid: grant g-m-2 is settled: ask again'],
    [
      'that lapsed before its act began',
      { id: 'g-m-4', fence: 7 },
      'AskInvalid: grant g-m-4 ended at 2030-01-01T11:59:55Z before it was used: ask again',
    ],
  ])('R13 renews or refuses a grant %s', (_, renewal, answer) => {
    expect(renew(renewal, FULL)).toBe(answer);
  });

  it('R24 checks windows again before each step, but not for a recovery', () => {
    const frozen = policy({ freezes: [SALE] });
    expect(renew({ id: 'g-m-1', fence: 7 }, frozen)).toBe(
      'Freeze: freeze sale until 2030-01-01T12:01:00.000Z: sale',
    );
    expect(renew({ id: 'g-m-1', fence: 7, recovery: true }, frozen)).toMatch(/^Started/);
  });

  it('R18 is the probe of a half-open breaker, so that only one act in work goes on', () => {
    const half = { state: 'HalfOpen', since: ago(900), trips: 1 } as const;
    const rules = policy({ breakers: [breaker({ per: 'Cluster' })] });
    const draft = createDraft(ledgerSpec({ grants: GRANTS, breakers: { 'fleet-default/b/cluster': half } }));
    expect(renewIn(draft, { id: 'g-m-1', fence: 7 }, rules)).toMatch(/^Started/);
    expect(renewIn(draft, { id: 'g-m-3', fence: 7 }, rules)).toBe(
      'BreakerHalfOpenBusy: breaker b of cluster is half open, and m-1 is its probe',
    );
    expect(renewIn(draft, { id: 'g-m-3', fence: 7, recovery: true }, rules)).toMatch(/^Started/);
    expect(draft.breakers).toMatchObject({ 'fleet-default/b/cluster': { probe: 'm-1' } });
  });
});

function renew(renewal: GrantRenewal, given: ReturnType<typeof policy>): string {
  return renewIn(createDraft(ledgerSpec({ grants: GRANTS })), renewal, given);
}

function renewIn(draft: LedgerDraft, renewal: GrantRenewal, given: ReturnType<typeof policy>): string {
  const policies = preparePolicies([given]);
  const facts = fleetFacts(machines(10), [given]);
  const usage = createLedgerUsage({ policies, ledger: draft, facts, now: NOW });
  const answer = renewGrant(draft, renewal, { policies, ledger: draft, usage, facts, now: NOW });
  if (!answer.permitted) return causeText(answer.cause);
  const { state, notAfter } = answer.found.entry;
  return `${state} until ${notAfter}`;
}

function causeText({ reason, message }: DenialCause): string {
  return `${reason}: ${message}`;
}
