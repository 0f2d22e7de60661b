/** Decisions of the Defender for a large fleet, from the same observed objects as in a cluster; and the memory that it holds. */
import type { DefenderLedgerSpec, DefenderPolicy, LedgerGrant } from '../src/api/generated/types.ts';
import { decide, decideAsk } from '../src/defender/decide.ts';
import { createCallWindow } from '../src/defender/facts/call-window.ts';
import { createFleetObserver } from '../src/defender/facts/observer.ts';
import { planLedger } from '../src/defender/ledger/plan.ts';
import { createLedgerUsage } from '../src/defender/ledger/usage.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { ask, breaker, entry, ledgerSpec, policy } from '../test/defender/builders.ts';
import { completeViews, testViews } from '../test/defender/facts/observed.ts';
import { machine, node } from '../test/support/builders.ts';
import type { Bench, BenchResult } from './bench.ts';

const MACHINES = 10_000;
const POLICIES = 50;
const GRANTS = 500;
const DECISIONS = 20_000;
/** Asks that arrive within 50 ms are decided together. */
const BATCH = 10;
const OLD = '2020-01-01T00:00:00Z';

export const bench: Bench = {
  name: 'defender',
  what: 'decisions for 10,000 machines under 50 policies, with counts kept for each change, against counting for each decision',
  needsKubenodeFlags: true,
  run: () => Promise.resolve(run()),
};

function run(): BenchResult {
  const clock = createSystemClock();
  const calls = createCallWindow(clock);
  calls.add({ verb: 'get', code: '200', seconds: 0, serverTime: clock.now() });
  const views = testViews();
  const observer = createFleetObserver({ views, clock, calls });
  for (const each of policies()) views.policies.store.put(each);
  for (let index = 0; index < MACHINES; index += 1) {
    const labels = {
      'kubenode.dev/pool': `pool-${index % (POLICIES - 1)}`,
      team: `team-${index % (POLICIES - 1)}`,
    };
    views.nodes.store.put(
      node(nameOf(index), 'True', { uid: `uid-${nameOf(index)}`, creationTimestamp: OLD }),
    );
    views.machines.store.put(
      machine(nameOf(index), { metadata: { labels }, spec: { zone: `zone-${index % 3}` } }),
    );
  }
  completeViews(views);
  const now = clock.now();
  const ledger = filledLedger(now);
  const prepared = observer.policies();
  const facts = observer.facts();
  const usage = createLedgerUsage({ policies: prepared, ledger, facts, now });
  const input = { policies: prepared, ledger, usage, facts, now };
  const decisionsPerCpuSecond = rateOf(DECISIONS, (index) => {
    const found = decideAsk(input, asking(index, now));
    if (!found.permitted) throw new Error(`${found.reason}: ${found.message}`);
  });
  const batchesPerCpuSecond = rateOf(200, (batch) => {
    const asks = Array.from({ length: BATCH }, (_, index) => asking(batch * BATCH + index, now));
    planLedger(
      { ledger, policies: prepared, facts, now, epoch: 1 },
      asks.map((each) => ({ kind: 'ask', ask: each })),
    );
  });
  const recount = rateOf(20, (index) => {
    decide(views.policies.store.list(), ledger, facts, { ask: asking(index, now), now });
  });
  const changesPerCpuSecond = rateOf(5000, (index) => {
    views.nodes.store.put(node(nameOf(index), index % 2 === 0 ? 'False' : 'True'));
  });
  const reviewsPerCpuSecond = rateOf(20, () => {
    planLedger({ ledger, policies: prepared, facts, now, epoch: 1 }, [{ kind: 'reviewBreakers' }]);
  });
  globalThis.gc?.();
  const residentMiB = process.memoryUsage().rss / 2 ** 20;
  observer.close();
  return {
    measured: {
      decisionsPerCpuSecond,
      batchesPerCpuSecond,
      changesPerCpuSecond,
      reviewsPerCpuSecond,
      residentMiB,
    },
    baseline: { decisionsPerCpuSecond: recount },
    ratios: { decisionsPerCpuSecond: decisionsPerCpuSecond / recount },
    gates: [
      { what: 'decisions per CPU second', value: decisionsPerCpuSecond, atLeast: 10_000 },
      { what: 'resident memory in MiB', value: residentMiB, atMost: 300 },
    ],
    setting: { machines: MACHINES, policies: POLICIES, grants: GRANTS, batch: BATCH },
  };
}

const CAUSE = breaker({
  type: 'CommonCause',
  per: 'Cluster',
  count: 3,
  percent: 60,
  withinSeconds: 600,
  dimensions: ['zone', 'pool', 'kubeletVersion', 'componentVersion'],
});

/** `fleet-default`, which searches common causes, and one policy for each team. */
function policies(): readonly DefenderPolicy[] {
  const limits = {
    concurrency: [
      { name: 'cluster', per: 'Cluster', actions: [], max: 1000 },
      { name: 'zone', per: 'Zone', actions: [], max: '33%' },
      { name: 'pool', per: 'Pool', actions: [], max: '33%' },
    ],
    rates: [{ name: 'reboots', per: 'Cluster', actions: [], risks: [], max: 1_000_000, windowSeconds: 3600 }],
    blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql: [] },
  } satisfies Partial<DefenderPolicy['spec']>;
  const teams = Array.from({ length: POLICIES - 1 }, (_, index) => {
    const nodeSelector = { all: false, matchLabels: { team: `team-${index}` } };
    return policy(
      { ...limits, scope: { nodeSelector, actions: [], risks: [], holders: [] } },
      `team-${index}`,
    );
  });
  return [policy({ ...limits, breakers: [CAUSE] }), ...teams];
}

/** Grants on the last machines; asks are for the first ones. */
function filledLedger(now: Date): DefenderLedgerSpec {
  const ends = { issuedAt: now.toISOString(), notAfter: new Date(+now + 300_000).toISOString() };
  const grants = Array.from({ length: GRANTS }, (_, index): readonly [string, LedgerGrant] => {
    const name = nameOf(MACHINES - 1 - index);
    return [name, entry(name, ends)];
  });
  return ledgerSpec({ grants: Object.fromEntries(grants) });
}

function asking(index: number, now: Date): ReturnType<typeof ask> {
  const name = nameOf(index % (MACHINES / 2));
  return ask({ machine: name, nodeUID: `uid-${name}`, factsAt: now });
}

function nameOf(index: number): string {
  return `node-${index}`;
}

/** By CPU time, which other load on this machine changes less than the wall clock. */
function rateOf(count: number, work: (index: number) => void): number {
  for (let index = 0; index < Math.min(count, 1000); index += 1) work(index);
  const before = process.cpuUsage();
  for (let index = 0; index < count; index += 1) work(index);
  const { user, system } = process.cpuUsage(before);
  return Math.round((count * 1e6) / (user + system));
}
