/** The metrics of the Defender. */
import { DENY_REASONS } from '../../api/deny-reasons.ts';
import { defineCounter, defineGauge, defineHistogram } from '../../kube/process/metrics.ts';

const SERVED = { processes: ['controllers'], writtenIn: 'src/defender/metrics.ts' } as const;

export const DEFENDER_DECISIONS = defineCounter({
  ...SERVED,
  name: 'defender_decisions_total',
  help: 'Asks and renewals that this process decided, by action and by the reason of the denial, or Granted.',
  labels: { action: { of: 'actions', most: 20 }, reason: ['Granted', ...DENY_REASONS] },
  maxSeries: 300,
});

/** An ask waits up to 50 ms for others; a full ledger takes 300 ms to write, and five attempts a few seconds. */
export const DEFENDER_ASK_SECONDS = defineHistogram({
  ...SERVED,
  name: 'defender_ask_seconds',
  help: 'Time from an ask or renewal to its answer.',
  buckets: [0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

export const DEFENDER_LEDGER_CONFLICTS = defineCounter({
  ...SERVED,
  name: 'defender_ledger_conflicts_total',
  help: 'Writes of the ledger that a write of another process made void.',
});

export const DEFENDER_LEDGER_FAILING = defineGauge({
  ...SERVED,
  name: 'defender_ledger_failing_seconds',
  help: 'Time since which this process could not write the ledger; 0 after a write that succeeded.',
});

export const DEFENDER_GRANTS = defineGauge({
  ...SERVED,
  name: 'defender_grants',
  help: 'Grants in the ledger by state. Suspect: started, past its end, and not settled.',
  labels: { state: ['Granted', 'Started', 'Suspect', 'Settled'] },
});

/** Names of zones, racks and pools: only the fullest are shown. */
export const DEFENDER_USAGE = defineGauge({
  ...SERVED,
  name: 'defender_usage_ratio',
  help: 'Used share of a limit, the 20 fullest: 1 is full.',
  labels: { per: { of: 'groups of limits', most: 10 }, key: { of: 'zones, pools and the like', most: 20 } },
  maxSeries: 20,
});

export const DEFENDER_BREAKERS = defineGauge({
  ...SERVED,
  name: 'defender_breaker_state',
  help: 'Breakers that are not closed: 1 half open, 2 open, 3 waits for a person.',
  labels: { name: { of: 'breakers', most: 50 }, key: { of: 'zones, pools and the like', most: 50 } },
  maxSeries: 100,
});

export const DEFENDER_RULE_WAVES = defineGauge({
  ...SERVED,
  name: 'defender_rule_wave',
  help: 'Waves of the rules that are not proven. Failed: too many repairs failed, and the rule is held.',
  labels: { rule: { of: 'NodeRemediers', most: 100 }, state: ['InWave', 'Failed'] },
});

export const DEFENDER_DARK_ZONES = defineGauge({
  ...SERVED,
  name: 'defender_dark_zones',
  help: 'Zones in which so many nodes are not Ready that nothing disruptive is done there, by policy.',
  labels: { policy: { of: 'DefenderPolicies', most: 50 } },
});

export const DEFENDER_UNRECORDED = defineGauge({
  ...SERVED,
  name: 'defender_unrecorded_acts',
  help: 'Acts that are not in the audit record. Waiting: written with the next append. Dropped: never written.',
  labels: { state: ['Waiting', 'Dropped'] },
});

export const DEFENDER_METRICS = [
  DEFENDER_DECISIONS,
  DEFENDER_ASK_SECONDS,
  DEFENDER_LEDGER_CONFLICTS,
  DEFENDER_LEDGER_FAILING,
  DEFENDER_GRANTS,
  DEFENDER_USAGE,
  DEFENDER_BREAKERS,
  DEFENDER_RULE_WAVES,
  DEFENDER_DARK_ZONES,
  DEFENDER_UNRECORDED,
];
