import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec } from '../../src/api/generated/types.ts';
import type { FleetFacts } from '../../src/defender/facts/facts.ts';
import type { DecidedRequest } from '../../src/defender/ledger/ledger.ts';
import { type DefenderMetricsSource, registerDefenderMetrics } from '../../src/defender/metrics.ts';
import { preparePolicies } from '../../src/defender/policies/prepare.ts';
import { createMetrics } from '../../src/kube/process/metrics.ts';
import { DEFENDER_METRICS } from '../../src/observability/metrics/defender.ts';
import { ledgerRule } from '../rollout/rule-waves/builders.ts';
import { ago, ask, entry, fleetFacts, ledgerSpec, machines, NOW, policy } from './builders.ts';

const LIMITS = {
  concurrency: [
    { name: 'all', per: 'Cluster', actions: [], max: 4 },
    { name: 'pool', per: 'Pool', actions: [], max: 2 },
  ],
  rates: [{ name: 'r', per: 'Cluster', actions: [], risks: [], max: 9, windowSeconds: 3600 }],
} as const;
const DENIED: DecidedRequest = {
  request: { kind: 'ask', ask: ask() },
  answer: { kind: 'denial', denial: { granted: false, reason: 'NodeBusy', message: 'busy', also: [] } },
  seconds: 0.06,
};

function textOf(
  spec: Partial<DefenderLedgerSpec> | undefined,
  decided: readonly DecidedRequest[] = [],
  { conflicts = 0, ...more }: Partial<DefenderMetricsSource> & { readonly conflicts?: number } = {},
): Promise<string> {
  const metrics = createMetrics();
  const policies = [policy(LIMITS), policy({ ...LIMITS, rates: [] }, 'second')];
  const source = {
    policies: preparePolicies(policies),
    facts: fleetFacts(machines(10), policies),
    ledger: spec && ledgerSpec(spec),
    unrecorded: { waiting: 0, dropped: 0 },
    now: NOW,
    ...more,
  };
  const registered = registerDefenderMetrics(
    metrics,
    () => source,
    () => conflicts,
  );
  for (const each of decided) registered.decided(each);
  return metrics.text();
}

/** Sorted, without help and buckets. */
function samples(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^#|_bucket/.test(line))
    .toSorted();
}

describe('the metrics of the Defender', () => {
  it('count decisions by action and reason, and not what decides nothing', async () => {
    const granted: DecidedRequest = {
      request: { kind: 'renew', renewal: { id: 'g-m-2', fence: 7 } },
      answer: { kind: 'entry', machine: 'm-2', entry: entry('m-2', { action: 'Drain' }) },
      seconds: 0.2,
    };
    const renewed: DecidedRequest = { ...DENIED, request: granted.request };
    const unknown: DecidedRequest = {
      ...DENIED,
      request: { kind: 'renew', renewal: { id: 'g-0', fence: 7 } },
    };
    const dry: DecidedRequest = { ...DENIED, request: { kind: 'ask', ask: ask(), dryRun: true } };
    const swept: DecidedRequest = { request: { kind: 'sweep' }, answer: { kind: 'done' }, seconds: 1 };
    const grants = { 'm-2': entry('m-2') };
    const text = await textOf({ grants }, [DENIED, DENIED, granted, renewed, unknown, dry, swept], {
      conflicts: 3,
    });
    expect(samples(text).filter((line) => /decisions|ask_|conflicts/.test(line))).toEqual([
      'kubenode_defender_ask_seconds_count 5',
      'kubenode_defender_ask_seconds_sum 0.44',
      'kubenode_defender_decisions_total{action="Drain",reason="Granted"} 1',
      'kubenode_defender_decisions_total{action="Reboot",reason="NodeBusy"} 2',
      'kubenode_defender_decisions_total{action="UpdateComponent",reason="NodeBusy"} 1',
      'kubenode_defender_decisions_total{action="unknown",reason="NodeBusy"} 1',
      'kubenode_defender_ledger_conflicts_total 3',
    ]);
  });

  it('R10 show the wave of each rule that is not proven, and whether it failed', async () => {
    const rules = {
      new: ledgerRule({ wave: 2 }),
      bad: ledgerRule({ failed: ['m-1'] }),
      old: ledgerRule({ proven: ['d-1'] }),
    };
    const text = await textOf({ rules });
    expect(samples(text).filter((line) => line.includes('rule_wave'))).toEqual([
      'kubenode_defender_rule_wave{rule="bad",state="Failed"} 1',
      'kubenode_defender_rule_wave{rule="new",state="InWave"} 2',
    ]);
  });

  it('R29 show grants, the fullest limits and open breakers before anything is denied', async () => {
    const ended = { issuedAt: ago(600), notAfter: ago(300) };
    const settled = { state: 'Settled', settledAt: ago(10), outcome: 'Succeeded' } as const;
    const text = await textOf({
      grants: {
        'm-1': entry('m-1'),
        'm-2': entry('m-2', ended),
        'm-3': entry('m-3', { state: 'Granted' }),
        'm-4': entry('m-4', settled),
      },
      breakers: {
        'fleet-default/unhealthy/zone a': { state: 'Open', since: ago(60), trips: 1 },
        'gpu/failed/a/b': { state: 'NeedsPerson', since: ago(60), trips: 3 },
      },
    });
    expect(samples(text).filter((line) => /_grants|usage|breaker/.test(line))).toEqual([
      'kubenode_defender_breaker_state{name="fleet-default/unhealthy",key="zone a"} 2',
      'kubenode_defender_breaker_state{name="gpu/failed",key="a/b"} 3',
      'kubenode_defender_grants{state="Granted"} 1',
      'kubenode_defender_grants{state="Settled"} 1',
      'kubenode_defender_grants{state="Started"} 1',
      'kubenode_defender_grants{state="Suspect"} 1',
      'kubenode_defender_usage_ratio{per="Cluster",key="cluster"} 1',
      'kubenode_defender_usage_ratio{per="Pool",key="web"} 2',
    ]);
  });

  it('S30 show acts that are not in the audit record, and those that were lost', async () => {
    const text = await textOf({}, [], { unrecorded: { waiting: 7, dropped: 2 } });
    expect(samples(text).filter((line) => line.includes('unrecorded'))).toEqual([
      'kubenode_defender_unrecorded_acts{state="Dropped"} 2',
      'kubenode_defender_unrecorded_acts{state="Waiting"} 7',
    ]);
  });

  it('show no grants and no limits until the ledger was read', async () => {
    expect(samples(await textOf(undefined)).filter((line) => line.includes('usage'))).toEqual([]);
  });

  it('show at most 20 limits', async () => {
    const pools = machines(40).map((each, index) => ({ ...each, pool: `pool-${index}` }));
    const policies = [policy(LIMITS)];
    const text = await textOf({}, [], {
      policies: preparePolicies(policies),
      facts: fleetFacts(pools, policies),
    });
    expect(samples(text).filter((line) => line.includes('usage')).length).toBe(20);
  });

  it('DAT-01 are those of the table, with these labels', async () => {
    const breaker = { state: 'Open', since: ago(60), trips: 1 } as const;
    const text = await textOf({ breakers: { 'a/b/c': breaker }, rules: { r: ledgerRule() } }, [DENIED]);
    const declared = DEFENDER_METRICS.map(({ name, labels = {} }) =>
      withLabels(`kubenode_${name}`, Object.keys(labels)),
    );
    const registered = [...text.matchAll(/^# TYPE (?<name>kubenode_defender_\S+)/gm)].map(({ groups }) => {
      const name = groups?.['name'] ?? '';
      const labels = new RegExp(`^${name}\\{(?<labels>.*)\\}`, 'm').exec(text)?.groups?.['labels'] ?? '';
      return withLabels(
        name,
        [...labels.matchAll(/(?<label>\w+)="/g)].map((each) => each.groups?.['label']),
      );
    });
    expect(declared.toSorted()).toEqual(registered.toSorted());
  });

  it('DAT-06 tell since when the ledger cannot be written, until a write succeeds', async () => {
    const unavailable = { granted: false, reason: 'LedgerUnavailable', message: 'down', also: [] } as const;
    const failed: DecidedRequest = {
      request: { kind: 'sweep' },
      answer: { kind: 'denial', denial: unavailable },
      seconds: 1,
    };
    const swept: DecidedRequest = { request: { kind: 'sweep' }, answer: { kind: 'done' }, seconds: 1 };
    const times = { now: NOW };
    const metrics = createMetrics();
    const source = {
      policies: preparePolicies([]),
      facts: fleetFacts([], []),
      ledger: undefined,
      unrecorded: { waiting: 0, dropped: 0 },
    };
    const registered = registerDefenderMetrics(
      metrics,
      () => ({ ...source, ...times }),
      () => 0,
    );
    const failing = async (): Promise<string | undefined> =>
      samples(await metrics.text()).find((line) => line.includes('ledger_failing'));
    registered.decided(failed);
    times.now = new Date(NOW.getTime() + 30_000);
    registered.decided(failed);
    times.now = new Date(NOW.getTime() + 90_000);
    expect(await failing()).toBe('kubenode_defender_ledger_failing_seconds 90');
    registered.decided(DENIED);
    expect(await failing()).toBe('kubenode_defender_ledger_failing_seconds 0');
    registered.decided(failed);
    registered.decided(swept);
    expect(await failing()).toBe('kubenode_defender_ledger_failing_seconds 0');
  });

  it('DAT-06 count dark zones by policy, and tell nothing while not all nodes are known', async () => {
    const policies = [policy({ zones: { haltPercent: 50, minNodes: 4 } })];
    const sick = machines(8).map((each) => ({ ...each, readiness: 'NotReady' as const }));
    const dark = async (facts: FleetFacts): Promise<readonly string[]> => {
      const text = await textOf({}, [], { policies: preparePolicies(policies), facts });
      return samples(text).filter((line) => line.includes('dark_zones'));
    };
    const facts = fleetFacts(sick, policies);
    expect(await dark(facts)).toEqual(['kubenode_defender_dark_zones{policy="fleet-default"} 1']);
    expect(await dark({ ...facts, view: {} } as FleetFacts)).toEqual([]);
  });
});

function withLabels(name: string, labels: readonly (string | undefined)[]): string {
  return labels.length > 0 ? `${name}{${labels.join(',')}}` : name;
}
