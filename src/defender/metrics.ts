/** The metrics of the Defender. Gauges are computed from the views when they are read, so they cost nothing otherwise. */
import type { DefenderLedgerSpec, LedgerGrant, LimitUsage } from '../api/generated/types.ts';
import type { GaugeSample, Metrics } from '../kube/process/metrics.ts';
import { isProvenRule, waveOf } from '../rollout/rule-waves/wave.ts';
import { limitUsage } from './controller/usage.ts';
import type { FleetFacts } from './facts/facts.ts';
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

/**
 * Buckets for the duration of an ask: it waits up to 50 ms for others; a full ledger takes 300 ms to write, and five attempts a
 * few seconds.
 */
const ASK_SECONDS = [0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Registers the metrics. `conflicts` returns the writes of this process that another write made void, so far. */
export function registerDefenderMetrics(
  metrics: Metrics,
  source: Source,
  conflicts: () => number,
): DefenderMetrics {
  registerGauges(metrics, source);
  const decisions = metrics.counter({
    name: 'defender_decisions_total',
    help: 'Asks and renewals that this process decided, by action and by the reason of the denial, or Granted.',
    labels: ['action', 'reason'],
  });
  const askSeconds = metrics.histogram({
    name: 'defender_ask_seconds',
    help: 'Time from an ask or renewal to its answer.',
    buckets: ASK_SECONDS,
  });
  const conflictsTotal = metrics.counter({
    name: 'defender_ledger_conflicts_total',
    help: 'Writes of the ledger that a write of another process made void.',
  });
  let counted = 0;
  return {
    decided: (decided) => {
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
  metrics.gauge({
    name: 'defender_grants',
    help: 'Grants in the ledger by state. Suspect: started, past its end, and not settled.',
    labels: ['state'],
    read: () => grantCounts(source()),
  });
  metrics.gauge({
    name: 'defender_usage_ratio',
    help: 'Used share of a limit, the 20 fullest: 1 is full.',
    labels: ['per', 'key'],
    read: () => usageRatios(source()),
  });
  metrics.gauge({
    name: 'defender_breaker_state',
    help: 'Breakers that are not closed: 1 half open, 2 open, 3 waits for a person.',
    labels: ['name', 'key'],
    read: () => breakerStates(source()),
  });
  metrics.gauge({
    name: 'defender_rule_wave',
    help: 'Waves of the rules that are not proven. Failed: too many repairs failed, and the rule is held.',
    labels: ['rule', 'state'],
    read: () => ruleWaves(source()),
  });
  metrics.gauge({
    name: 'defender_unrecorded_acts',
    help: 'Acts that are not in the audit record. Waiting: written with the next append. Dropped: never written.',
    labels: ['state'],
    read: () => unrecordedActs(source()),
  });
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
function ruleWaves({ ledger, facts, now }: DefenderMetricsSource): readonly GaugeSample<'rule' | 'state'>[] {
  if (!ledger) return [];
  const machines = [...facts.machines()].filter(({ established }) => established).length;
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
