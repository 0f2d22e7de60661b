import { describe, expect, it } from 'vitest';
import type { DefenderPolicyStatus } from '../../../src/api/generated/types.ts';
import { breakersOf, policyStatus } from '../../../src/defender/controller/policy-status.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { ago, fleetFacts, ledgerSpec, machines, NOW, policy } from '../builders.ts';

function statusOf(
  given: ReturnType<typeof policy>,
  ledger: ReturnType<typeof ledgerSpec> | undefined = ledgerSpec(),
): DefenderPolicyStatus {
  const all = given.metadata.name === 'fleet-default' ? [given] : [policy(), given];
  const policies = preparePolicies(all);
  const facts = fleetFacts(machines(4), all);
  return policyStatus({ policy: given, policies, ledger, facts, denials: { Freeze: 2 }, now: NOW });
}

const STOP = { engaged: true, scope: 'All', by: 'alice', reason: 'bad image' } as const;
const AUDIT = policy({ mode: 'Audit' }, 'gpu');

function message(given: Partial<typeof STOP> & { readonly until?: string }): string | undefined {
  const { conditions } = statusOf(policy({ killSwitch: { ...STOP, ...given } }));
  return conditionOf(conditions, 'KillSwitchEngaged')?.message;
}

describe('the queries of a policy, in its status', () => {
  const promql = [{ name: 'paging', query: 'ALERTS' }];
  const declared = policy({ blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql } });
  const facts = fleetFacts(machines(4), [declared]);
  const shared = {
    policy: declared,
    policies: preparePolicies([declared]),
    ledger: ledgerSpec(),
    facts,
    denials: {},
  };

  it('R23 reports that a query denies because it could not be read, and why', () => {
    const answer = { state: 'Unknown', message: 'no Prometheus is configured', at: NOW } as const;
    const { alerts, conditions } = policyStatus({ ...shared, now: NOW, alertOf: () => answer });
    expect(alerts).toMatchObject([
      { name: 'paging', state: 'Unknown', message: 'no Prometheus is configured' },
    ]);
    expect(conditionOf(conditions, 'InForce')?.message).toBe(
      'asks are decided by this generation; query paging could not be read, and denies: no Prometheus is configured',
    );
    const quiet = policyStatus({ ...shared, now: NOW, alertOf: () => ({ ...answer, state: 'Quiet' }) });
    expect(conditionOf(quiet.conditions, 'InForce')?.message).toBe('asks are decided by this generation');
    expect(policyStatus({ ...shared, now: NOW })).not.toHaveProperty('alerts');
  });
});

describe('policyStatus', () => {
  it.each([
    ['InForce', policy()],
    ['Auditing', AUDIT],
    ['Stopped', policy({ killSwitch: STOP })],
    ['Refused', policy({ concurrency: [] })],
    ['Refused', policy({ ...AUDIT.spec, rates: [rate(-1)] }, 'gpu')],
  ] as const)('has the phase %s', (phase, given) => {
    expect(statusOf(given)).toMatchObject({ phase, denials: { Freeze: 2 } });
  });

  it('R25 shows who stopped what, why and until when, and that it ended', () => {
    const until = new Date(+NOW + 60_000).toISOString();
    expect(message({})).toBe(
      'engaged by alice for All, until it is disengaged: bad image. Settling and uncordoning continue',
    );
    expect(message({ until })).toContain(`until ${until}`);
    expect(message({ until: ago(1) })).toBe(`ended at ${ago(1)}`);
  });

  it('R29 shows every breaker that is not closed, what opened it and what unblocks it', () => {
    const breakers = {
      'fleet-default/unhealthy/a/b': {
        state: 'Open',
        since: ago(60),
        trips: 1,
        closesAt: ago(-60),
        evidence: '5 of 9',
      },
      'fleet-default/failed/cluster': { state: 'NeedsPerson', since: ago(10), trips: 3 },
      'other/x/y': { state: 'HalfOpen', since: ago(60), trips: 1 },
    } as const;
    expect(breakersOf('fleet-default', { breakers }).map(({ name, key }) => `${name} ${key}`)).toEqual([
      'failed cluster',
      'unhealthy a/b',
    ]);
    expect(conditionOf(statusOf(policy(), ledgerSpec({ breakers })).conditions, 'BreakerOpen')).toMatchObject(
      {
        status: 'True',
        reason: 'NeedsPerson',
        message:
          'failed of cluster is NeedsPerson: no evidence recorded; close it with: kubenode defender close ' +
          `'fleet-default/failed/cluster' --reason ...; unhealthy of a/b is Open: 5 of 9; half open after ${ago(-60)}, when the cause is over`,
      },
    );
  });

  it('R19 shows each zone that is dark by its numbers', () => {
    const numbers = policy({ zones: { haltPercent: 55, minNodes: 3 } });
    const [lit, dark] = [{ zone: 'a' }, { zone: 'b', readiness: 'NotReady' } as const];
    const fleet = [
      ...machines(3, lit),
      ...machines(3, dark).map((each) => ({ ...each, name: `b-${each.name}` })),
    ];
    const zoneDark = (all: typeof fleet, view = fleetFacts([], []).view) => {
      const facts = { ...fleetFacts(all, [numbers]), view };
      const shared = { policy: numbers, policies: preparePolicies([numbers]), ledger: ledgerSpec() };
      const { conditions } = policyStatus({ ...shared, facts, denials: {}, now: NOW });
      return conditionOf(conditions, 'ZoneDark');
    };
    expect(zoneDark(fleet)).toMatchObject({
      status: 'True',
      message: 'zone b is dark: 3 of 3 nodes are not Ready; 2 make it dark',
    });
    expect(zoneDark(fleet.slice(0, 3))).toMatchObject({ status: 'False', message: 'no zone is dark' });
    const unseen = { ...fleetFacts([], []).view, ageSeconds: undefined };
    expect(zoneDark(fleet, unseen)?.status).toBe('Unknown');
  });

  it('leaves denials out when there are none: the API server turns an empty map that had entries into null', () => {
    const shared = { policy: policy(), policies: preparePolicies([policy()]), ledger: undefined, now: NOW };
    const facts = fleetFacts([], []);
    expect(policyStatus({ ...shared, facts, denials: {} })).not.toHaveProperty('denials');
    expect(policyStatus({ ...shared, facts, denials: { Rate: 1 } })).toMatchObject({ denials: { Rate: 1 } });
  });

  it('shows the usage of its limits only when the ledger was read', () => {
    expect(statusOf(policy()).usage).toEqual([{ rule: 'all', key: 'cluster', used: 0, limit: 1000 }]);
    const { usage, ledgerSeq } = policyStatus({
      policy: policy(),
      policies: preparePolicies([policy()]),
      ledger: undefined,
      facts: fleetFacts([], []),
      denials: {},
      now: NOW,
    });
    expect([usage, ledgerSeq]).toEqual([[], undefined]);
  });

  it('R15 shows what git would have refused, and decides by the policy all the same', () => {
    const zone = policy({ concurrency: [{ name: 'z', per: 'Cluster', actions: [], max: 1001 }] }, 'gpu');
    const half = policy({ concurrency: [{ name: 'half', per: 'Cluster', actions: [], max: '50%' }] });
    expect(conditionOf(statusOf(zone).conditions, 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'RefusedInGit',
      message: expect.stringMatching(
        /^decided by, but refused in git: spec\.concurrency\[0\]\.max: looser than 1000 /,
      ) as string,
    });
    expect(conditionOf(statusOf(half).conditions, 'Accepted')?.message).toContain('at most 33% without');
    expect(conditionOf(statusOf(half).conditions, 'InForce')?.status).toBe('True');
    expect(conditionOf(statusOf(policy({ grantSeconds: 200 })).conditions, 'Accepted')?.status).toBe('True');
  });

  it('R24 shows a freeze that is over, which denies nothing', () => {
    const freezes = [{ name: 'sale', from: ago(60), until: ago(1), reason: 'sale', risks: [] }];
    expect(conditionOf(statusOf(policy({ freezes })).conditions, 'Accepted')).toMatchObject({
      status: 'True',
      message: `every field can be decided by; spec.freezes[0].until: ended at ${ago(1)}, so it denies nothing: remove it, or set a later time`,
    });
  });

  it('names every problem of a policy that cannot be decided by', () => {
    expect(
      conditionOf(statusOf(policy({ concurrency: [], rates: [rate(5)] })).conditions, 'Accepted'),
    ).toMatchObject({
      status: 'False',
      message: 'fleet-default must limit concurrency; rate r: burst must not exceed max',
    });
  });
});

function rate(burst: number) {
  return {
    name: 'r',
    per: 'Cluster',
    actions: [],
    risks: [],
    max: burst < 0 ? -2 : 1,
    windowSeconds: 60,
    burst,
  } as const;
}
