import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec } from '../../../src/api/generated/types.ts';
import { counterKey } from '../../../src/defender/ledger/counter-key.ts';
import { createDraft } from '../../../src/defender/ledger/draft.ts';
import { expireEntries } from '../../../src/defender/ledger/expire.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { ago, entry, ledgerSpec, NOW, policy } from '../builders.ts';

const ANSWER = { action: 'Reboot', holder: 'j', decision: 'Approved', by: 'ann', at: ago(9) } as const;
const SETTLED = entry('m', { state: 'Settled', settledAt: ago(9) });
const HALF_OPEN = { state: 'HalfOpen', since: ago(99), trips: 1 } as const;
const WEB = { pool: 'web' };

describe('expireEntries', () => {
  it.each<[string, Partial<DefenderLedgerSpec>, number | undefined, Partial<DefenderLedgerSpec>]>([
    [
      'a lapsed grant',
      { grants: { m: entry('m', { state: 'Granted', notAfter: ago(0) }) } },
      0,
      { grants: {} },
    ],
    ['no grant in time', { grants: { m: entry('m', { state: 'Granted' }) } }, 0, {}],
    ['no suspect grant', { grants: { m: entry('m', { notAfter: ago(9999) }) } }, 0, {}],
    [
      'a settled grant after its linger',
      { grants: { m: entry('m', { state: 'Settled', settledAt: ago(1200) }) } },
      0,
      { grants: {} },
    ],
    [
      'no settled grant that lingers',
      { grants: { m: entry('m', { state: 'Settled', settledAt: ago(1199) }) } },
      0,
      {},
    ],
    [
      'an approval that ended an hour ago',
      { approvals: { m: { ...ANSWER, until: ago(3601) } } },
      0,
      { approvals: {} },
    ],
    ['no approval that just ended', { approvals: { m: { ...ANSWER, until: ago(3599) } } }, 0, {}],
    [
      'an old counter',
      { rates: { 'p/r/k': { bucketSeconds: 300, firstBucketAt: ago(4000), counts: [3] } } },
      0,
      { rates: {} },
    ],
    [
      'outcomes of last week',
      {
        rates: {
          [counterKey('p/b/k', 'acts')]: { bucketSeconds: 1, firstBucketAt: ago(604_801), counts: [1] },
        },
      },
      0,
      { rates: {} },
    ],
    [
      'no outcomes of yesterday',
      {
        rates: {
          [counterKey('p/b/k', 'acts')]: { bucketSeconds: 1, firstBucketAt: ago(86_400), counts: [1] },
        },
      },
      0,
      {},
    ],
    [
      'a replaced machine, the first that was deleted',
      { gone: { a: { ...WEB, since: ago(99) }, b: { ...WEB, since: ago(9) } } },
      1,
      { gone: { b: { ...WEB, since: ago(9) } } },
    ],
    [
      'no machine of a pool that was not observed',
      { gone: { a: { ...WEB, since: ago(99) } } },
      undefined,
      {},
    ],
    [
      'the probe of a breaker whose grant was settled',
      { grants: { m: SETTLED }, breakers: { 'p/b/k': { ...HALF_OPEN, probe: 'm' } } },
      0,
      { breakers: { 'p/b/k': HALF_OPEN } },
    ],
    [
      'no probe whose grant is in flight',
      { grants: { m: entry('m') }, breakers: { 'p/b/k': { ...HALF_OPEN, probe: 'm' } } },
      0,
      {},
    ],
    [
      'no settled grant whose act its object still shows in work',
      { grants: { m: entry('m', { id: 'g-live', state: 'Settled', settledAt: ago(9999) }) } },
      0,
      {},
    ],
  ])('removes %s', (_, spec, missing, change) => {
    const draft = createDraft(ledgerSpec(spec));
    const linger = policy({
      counting: { include: ['InFlight'], lingerSeconds: 1200, smallPool: { below: 0, max: 1 } },
    });
    const policies = preparePolicies([linger]);
    const facts = { missingIn: () => missing };
    const inWork = new Set(['g-live']);
    const removed = expireEntries(draft, { policies, facts, inWork, now: NOW });
    expect(draft).toEqual({ ...ledgerSpec({ ...spec, ...change }), changed: false });
    expect(removed).toBe(Object.keys(change).length > 0);
  });

  it.each<[what: string, grants: number, lingerSeconds: number | undefined, left: number]>([
    ['keeps all for people while there is room', 256, 0, 256],
    ['drops those that no policy counts above half of the room', 257, 0, 0],
    ['keeps those that a policy counts above half of the room', 257, 60, 257],
    ['keeps all without a policy', 257, undefined, 257],
  ])('MAC-05 %s: settled grants of half a minute ago', (_, count, lingerSeconds, left) => {
    const settled = entry('m', { state: 'Settled', settledAt: ago(30) });
    const names = Array.from({ length: count }, (__, index) => `m-${index}`);
    const draft = createDraft(
      ledgerSpec({ grants: Object.fromEntries(names.map((name) => [name, settled])) }),
    );
    const counting = { include: ['InFlight' as const], smallPool: { below: 0, max: 1 } };
    const policies = preparePolicies(
      lingerSeconds === undefined ? [] : [policy({ counting: { ...counting, lingerSeconds } })],
    );
    expireEntries(draft, { policies, facts: { missingIn: () => 0 }, now: NOW });
    expect(Object.keys(draft.grants)).toHaveLength(left);
  });

  it('ROL-10 keeps grants in flight, however full the ledger is', () => {
    const names = Array.from({ length: 400 }, (_, index) => `m-${index}`);
    const draft = createDraft(
      ledgerSpec({ grants: Object.fromEntries(names.map((name) => [name, entry('m')])) }),
    );
    const counting = { include: ['InFlight' as const], lingerSeconds: 0, smallPool: { below: 0, max: 1 } };
    const policies = preparePolicies([policy({ counting })]);
    expireEntries(draft, { policies, facts: { missingIn: () => 0 }, now: NOW });
    expect(Object.keys(draft.grants)).toHaveLength(400);
  });
});
