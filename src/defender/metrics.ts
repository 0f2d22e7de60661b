/** The metrics of the Defender. Gauges are computed from the views when they are read, so they cost nothing otherwise. */
import type { DefenderLedgerSpec, LedgerGrant, LimitUsage } from '../api/generated/types.ts';
import { FLEET_DEFAULT } from '../api/names.ts';
import type { GaugeSample, Metrics } from '../kube/process/metrics.ts';
import {
  DEFENDER_ASK_SECONDS,
  DEFENDER_BREAKERS,
  DEFENDER_DARK_ZONES,
  DEFENDER_DECISIONS,
  DEFENDER_GRANTS,
  DEFENDER_LEDGER_CONFLICTS,
  DEFENDER_LEDGER_FAILING,
  DEFENDER_RULE_WAVES,
  DEFENDER_UNRECORDED,
  DEFENDER_USAGE,
} from '../observability/metrics/defender.ts';
import { isProvenRule, waveOf } from '../rollout/rule-waves/wave.ts';
import { limitUsage } from './controller/usage.ts';
import type { FleetFacts } from './facts/facts.ts';
import { CLUSTER_KEY } from './facts/grouping.ts';
import { darkZones } from './guards/view/dark-zone.ts';
import { isSuspect } from './ledger/entries.ts';
import type { DecidedRequest } from './ledger/ledger.ts';
import type { PreparedPolicies, PreparedPolicy } from './policies/prepare.ts';

export interface DefenderMetricsSource {
  readonly policies: PreparedPolicies;
  readonly facts: FleetFacts;
  /** The content of the ledger. Undefined: it was not read yet. */
  readonly ledger: DefenderLedgerSpec | undefined;
  /** Acts that are not in the audit record. */
  readonly unrecorded: { readonly waiting: number; readonly dropped: number };
  readonly now: Date;
}

export interface DefenderMetrics {
  decided(decided: DecidedRequest): void;
}

type Source = () => DefenderMetricsSource;

/** Registers the metrics. `conflicts` returns the writes of this process that another write made void, so far. */
export function registerDefenderMetrics(
  metrics: Metrics,
  source: Source,
  conflicts: () => number,
): DefenderMetrics {
  registerGauges(metrics, source);
  const decisions = metrics.counter(DEFENDER_DECISIONS);
  const askSeconds = metrics.histogram(DEFENDER_ASK_SECONDS);
  const conflictsTotal = metrics.counter(DEFENDER_LEDGER_CONFLICTS);
  let counted = 0;
  let failingSince: Date | undefined;
  metrics.gauge({
    ...DEFENDER_LEDGER_FAILING,
    read: () => [[{}, failingSince ? Math.max(0, (+source().now - +failingSince) / 1000) : 0]],
  });
  return {
    decided: (decided) => {
      failingSince = isUnwritten(decided) ? (failingSince ?? source().now) : undefined;
      const total = conflicts();
      conflictsTotal.add({}, total - counted);
      counted = total;
      const action = actionOf(decided, source);
      if (action === undefined) return;
      const { answer, seconds } = decided;
      decisions.add({ action, reason: answer.kind === 'denial' ? answer.denial.reason : 'Granted' });
      askSeconds.observe({}, seconds);
    },
  };
}

/** Also a sweep that cannot be written: the sweep runs without any ask. A conflict is another process that could write. */
function isUnwritten({ answer }: DecidedRequest): boolean {
  return answer.kind === 'denial' && answer.denial.reason === 'LedgerUnavailable';
}

/** Returns the action of a decision; undefined for what is not decided: settlements, dry runs, and changes of the Defender itself. */
function actionOf({ request, answer }: DecidedRequest, source: Source): string | undefined {
  if (request.kind === 'ask') return request.dryRun ? undefined : request.ask.action;
  if (request.kind !== 'renew') return undefined;
  return answer.kind === 'entry' ? answer.entry.action : actionOfGrant(source(), request.renewal.id);
}

function actionOfGrant({ ledger }: DefenderMetricsSource, id: string): string {
  const found = Object.values(ledger?.grants ?? {}).find((entry) => entry.id === id);
  return found?.action ?? 'unknown';
}

function registerGauges(metrics: Metrics, source: Source): void {
  metrics.gauge({ ...DEFENDER_GRANTS, read: () => grantCounts(source()) });
  metrics.gauge({ ...DEFENDER_USAGE, read: () => usageRatios(source()) });
  metrics.gauge({ ...DEFENDER_BREAKERS, read: () => breakerStates(source()) });
  metrics.gauge({ ...DEFENDER_RULE_WAVES, read: () => ruleWaves(source()) });
  metrics.gauge({ ...DEFENDER_DARK_ZONES, read: () => darkZoneCounts(source()) });
  metrics.gauge({ ...DEFENDER_UNRECORDED, read: () => unrecordedActs(source()) });
}

/** Nothing while a view is not complete: a zone that is not observed may be dark. */
function darkZoneCounts({ policies, facts }: DefenderMetricsSource): readonly GaugeSample<'policy'>[] {
  if (facts.view.ageSeconds === undefined) return [];
  return policies.valid.map((policy) => [{ policy: policy.name }, darkZones(policy, facts).length]);
}

function unrecordedActs({ unrecorded }: DefenderMetricsSource): readonly GaugeSample<'state'>[] {
  return [
    [{ state: 'Waiting' }, unrecorded.waiting],
    [{ state: 'Dropped' }, unrecorded.dropped],
  ];
}

const STATES = ['Granted', 'Started', 'Suspect', 'Settled'] as const;

function grantCounts({ ledger, now }: DefenderMetricsSource): readonly GaugeSample<'state'>[] {
  const states = Object.values(ledger?.grants ?? {}).map((entry) => stateOf(entry, now));
  return STATES.map((state) => [{ state }, states.filter((each) => each === state).length]);
}

function stateOf(entry: LedgerGrant, now: Date): (typeof STATES)[number] {
  return isSuspect(entry, now) ? 'Suspect' : entry.state;
}

const SHOWN = 20;

/** Returns how full the fullest groups are. Of several limits for one group, the fullest counts. */
function usageRatios({ ledger, ...more }: DefenderMetricsSource): readonly GaugeSample<'per' | 'key'>[] {
  if (!ledger) return [];
  const samples = more.policies.valid.flatMap((policy) =>
    limitUsage(policy, { ...more, ledger }).map((usage) => sampleOf(policy, usage)),
  );
  const rising = samples.toSorted(([, a], [, b]) => a - b);
  const fullest = new Map(rising.map((sample) => [`${sample[0].per} ${sample[0].key}`, sample]));
  return [...fullest.values()].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
}

/** A limit of 0 that permits nothing is full. */
function sampleOf(
  policy: PreparedPolicy,
  { rule = '', key = '', used = 0, limit = 0 }: LimitUsage,
): GaugeSample<'per' | 'key'> {
  return [{ per: perOf(policy, rule), key }, limit === 0 ? 1 : used / limit];
}

function perOf({ spec: { concurrency, rates } }: PreparedPolicy, rule: string): string {
  return [...concurrency, ...rates].find(({ name }) => name === rule)?.per ?? 'unknown';
}

/** Returns the wave of each rule that is not proven. */
function ruleWaves({
  policies,
  ledger,
  facts,
  now,
}: DefenderMetricsSource): readonly GaugeSample<'rule' | 'state'>[] {
  const policy = policies.valid.find(({ name }) => name === FLEET_DEFAULT);
  if (!ledger || !policy) return [];
  const machines = facts.group(policy.cluster.id, CLUSTER_KEY).total;
  return Object.entries(ledger.rules ?? {})
    .filter(([, entry]) => !isProvenRule(entry))
    .map(([rule, entry]) => {
      const { number, failed, tolerated } = waveOf({ rule, entry, ledger, machines, now });
      return [{ rule, state: failed > tolerated ? 'Failed' : 'InWave' }, number];
    });
}

const LEVELS = { HalfOpen: 1, Open: 2, NeedsPerson: 3 } as const;

/** Returns the state of each breaker. The name is that of the policy and the breaker, as `kubenode defender close` reads it. */
function breakerStates({ ledger }: DefenderMetricsSource): readonly GaugeSample<'name' | 'key'>[] {
  return Object.entries(ledger?.breakers ?? {}).map(([id, { state }]) => {
    const [policy = '', breaker = '', ...key] = id.split('/');
    return [{ name: `${policy}/${breaker}`, key: key.join('/') }, LEVELS[state]];
  });
}
