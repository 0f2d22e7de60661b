import { describe, expect, it } from 'vitest';
import type { Breaker } from '../../../src/api/generated/types.ts';
import { usedOf } from '../../../src/defender/allowance/limits.ts';
import { createDraft } from '../../../src/defender/ledger/draft.ts';
import { endOfGrant, issueGrant } from '../../../src/defender/ledger/issue.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { allowance, rebootsLimit } from '../allowance/builders.ts';
import { ask, ledgerSpec, machineFacts, NOW, policy } from '../builders.ts';

const STORM: Breaker = {
  name: 'storm',
  type: 'UnhealthyRatio',
  per: 'Pool',
  risks: [],
  lift: 2,
  cooldownSeconds: 900,
  probes: 1,
  manualAfterTrips: 2,
};
const HALF_OPEN = { state: 'HalfOpen', since: NOW.toISOString(), trips: 1 } as const;

describe('issueGrant', () => {
  it('counts the act under the rates of the allowance that it belongs to, and under no other', () => {
    const draft = createDraft(ledgerSpec({ allowance: allowance() }));
    const shared = {
      machine: machineFacts('m-1'),
      policies: preparePolicies([policy()]),
      now: NOW,
      index: 0,
    };
    issueGrant(draft, { ...shared, ask: ask({ action: 'Reboot' }) });
    issueGrant(draft, { ...shared, ask: ask({ machine: 'm-2', action: 'UpdateComponent' }) });
    expect(usedOf(draft, rebootsLimit(), NOW)).toBe(1);
  });

  it('records what the grant is counted under, and ends it with the shortest life of its policies', () => {
    const short = policy(
      {
        grantSeconds: 60,
        concurrency: [
          { name: 'rack', per: 'Label', labelKey: 'topology.kubernetes.io/rack', actions: [], max: 1 },
        ],
      },
      'short',
    );
    const policies = preparePolicies([policy(), short]);
    const draft = createDraft(ledgerSpec());
    const entry = issueGrant(draft, {
      ask: ask({ started: true }),
      machine: machineFacts('m-1'),
      policies,
      now: NOW,
      index: 3,
    });
    expect(entry).toMatchObject({
      id: 'g-7-3',
      fence: 7,
      state: 'Started',
      keys: { zone: 'a', pool: 'web', 'topology.kubernetes.io/rack': 'r1' },
      notAfter: '2030-01-01T12:01:00.000Z',
    });
    expect(endOfGrant([], NOW)).toBe('2030-01-01T12:00:30.000Z');
  });

  it('keeps zone and pool of the machine beside labels of the same names', () => {
    const named = ['zone', 'pool'].map((labelKey) => ({
      name: labelKey,
      per: 'Label' as const,
      labelKey,
      actions: [],
      max: 1,
    }));
    const machine = machineFacts('m-1', { labels: { zone: 'x', pool: 'y' } });
    const policies = preparePolicies([policy({ concurrency: named })]);
    const entry = issueGrant(createDraft(ledgerSpec()), {
      ask: ask(),
      machine,
      policies,
      now: NOW,
      index: 0,
    });
    expect(entry.keys).toEqual({ zone: 'a', pool: 'web' });
  });

  it('R15 issues a grant under a limit by a label key that every object has', () => {
    const limit = { name: 'l', per: 'Label', labelKey: 'constructor', actions: [], max: 1 } as const;
    const policies = preparePolicies([policy({ concurrency: [limit] })]);
    const machine = machineFacts('m-1');
    const entry = issueGrant(createDraft(ledgerSpec()), {
      ask: ask(),
      machine,
      policies,
      now: NOW,
      index: 0,
    });
    expect(entry.keys).toEqual({ zone: 'a', pool: 'web' });
  });

  it.each([
    ['takes the probe of a half-open breaker', {}, 'm-1'],
    ['takes no probe for an act without risk', { action: 'CleanDisk', risk: 'None' } as const, undefined],
    ['takes no probe for a recovery', { action: 'UpdateComponent', recovery: true } as const, undefined],
  ])('R18 when a grant is issued, its entry %s', (_, fields, probe) => {
    const policies = preparePolicies([policy({ breakers: [STORM] })]);
    const draft = createDraft(ledgerSpec({ breakers: { 'fleet-default/storm/web': HALF_OPEN } }));
    issueGrant(draft, { ask: ask(fields), machine: machineFacts('m-1'), policies, now: NOW, index: 0 });
    expect(draft.breakers['fleet-default/storm/web']?.probe).toBe(probe);
  });

  it('R18 takes no probe of a breaker in mode Audit, which denies nothing', () => {
    const audit = policy({ mode: 'Audit', breakers: [STORM] }, 'audit');
    const draft = createDraft(ledgerSpec({ breakers: { 'audit/storm/web': HALF_OPEN } }));
    const policies = preparePolicies([policy(), audit]);
    issueGrant(draft, { ask: ask(), machine: machineFacts('m-1'), policies, now: NOW, index: 0 });
    expect(draft.breakers).toEqual({ 'audit/storm/web': HALF_OPEN });
  });
});
