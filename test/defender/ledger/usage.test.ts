import { describe, expect, it } from 'vitest';
import type { LedgerGrant } from '../../../src/api/generated/types.ts';
import { createLedgerUsage, jsonBytes, type LimitUse } from '../../../src/defender/ledger/usage.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, entry, fleetFacts, ledgerSpec, machineFacts, machines, NOW, policy } from '../builders.ts';

const POLICY = policy({
  concurrency: [{ name: 'l', per: 'Pool', actions: [], risks: ['Node'], max: 5 }],
});
const POLICIES = preparePolicies([POLICY]);
const [LIMIT] = POLICIES.valid[0]?.limits ?? [];

describe('createLedgerUsage', () => {
  it.each<[string, Parameters<typeof ledgerSpec>[0], Partial<LimitUse>]>([
    ['nothing', {}, {}],
    ['an act on a machine that serves', { grants: { 'm-1': entry('m-1') } }, { taken: 1, uncounted: 1 }],
    ['an act on a machine that is NotReady', { grants: { sick: entry('sick') } }, { taken: 1 }],
    ['an act on a machine that is not known', { grants: { x: entry('x') } }, { taken: 1, uncounted: 1 }],
    ['an act below the risk of the limit', { grants: { 'm-1': entry('m-1', { risk: 'Pod' }) } }, {}],
    [
      'an act above it, which takes the node down',
      { grants: { 'm-1': entry('m-1', { risk: 'Machine' }) } },
      { taken: 1, uncounted: 1 },
    ],
    ['a lapsed grant', { grants: { 'm-1': entry('m-1', { state: 'Granted', notAfter: ago(1) }) } }, {}],
    [
      'a suspect grant',
      { grants: { 'm-1': entry('m-1', { notAfter: ago(1) }) } },
      { taken: 1, uncounted: 1 },
    ],
    [
      'a deleted machine',
      { gone: { x: { pool: 'web', since: ago(9) } } },
      { taken: 1, uncounted: 1, deleted: 1 },
    ],
    ['a deleted machine of another pool', { gone: { x: { pool: 'db', since: ago(9) } } }, {}],
    ['a deleted machine that is back', { gone: { 'm-1': { pool: 'web', since: ago(9) } } }, {}],
    [
      'a deleted machine whose act is counted',
      { grants: { x: entry('x') }, gone: { x: { pool: 'web', since: ago(9) } } },
      { taken: 1, uncounted: 1 },
    ],
    ['nothing for the machine that asks', { grants: { other: entry('other') } }, {}],
  ])('R14 counts what is down or may be: %s', (_, ledger, use) => {
    expect(usageOf(ledger).of(limit(), 'web', 'other')).toEqual({
      taken: 0,
      uncounted: 0,
      deleted: 0,
      ...use,
    });
  });

  it('names the moment at which settled acts stop to count, as long as nothing else has to end', () => {
    const usage = usageOf({
      grants: { 'm-1': settledAgo(60), 'm-2': settledAgo(90), 'm-3': entry('m-3') },
      gone: { x: { pool: 'web', since: ago(9) } },
    });
    const freesAt = (count: number, besides = 'other'): string | undefined =>
      usage.freesAt(limit(), { key: 'web', besides, part: 'taken', count })?.toISOString();
    const lingers = POLICY.spec.counting.lingerSeconds;
    expect([freesAt(1), freesAt(2), freesAt(3)].map((end) => end && Date.parse(end))).toEqual([
      Date.parse(ago(90 - lingers)),
      Date.parse(ago(60 - lingers)),
      undefined,
    ]);
    expect(freesAt(2, 'm-1')).toBeUndefined();
    expect(usage.freesAt(limit(), { key: 'db', besides: '', part: 'taken', count: 1 })).toBeUndefined();
  });

  it('adds a grant of the same batch', () => {
    const usage = usageOf({});
    usage.add('m-1', entry('m-1') satisfies LedgerGrant);
    expect(usage.of(limit(), 'web', 'other')).toMatchObject({ taken: 1 });
  });

  it('R13 counts the bytes of the ledger with the grants of the same batch', () => {
    const grants = { 'm-1': entry('m-1'), 'm-2': entry('m-2') };
    const whole = jsonBytes(ledgerSpec({ grants }));
    const usage = usageOf({});
    const empty = usage.bytes();
    for (const [name, grant] of Object.entries(grants)) usage.add(name, grant);
    expect(empty).toBe(jsonBytes(ledgerSpec()));
    // At least: each grant is counted with its braces.
    expect(usage.bytes()).toBeGreaterThanOrEqual(whole);
    expect(usage.bytes()).toBeLessThan(whole + 10);
    expect(usageOf({ grants }).bytes()).toBe(whole);
  });
});

function settledAgo(seconds: number): LedgerGrant {
  return entry('m', { state: 'Settled', settledAt: ago(seconds) });
}

function usageOf(ledger: Parameters<typeof ledgerSpec>[0]): ReturnType<typeof createLedgerUsage> {
  const all = [...machines(3), machineFacts('sick', { readiness: 'NotReady' })];
  return createLedgerUsage({
    policies: POLICIES,
    ledger: ledgerSpec(ledger),
    facts: fleetFacts(all, [POLICY]),
    now: NOW,
  });
}

function limit(): NonNullable<typeof LIMIT> {
  if (!LIMIT) throw new Error('the policy has one limit');
  return LIMIT;
}
