/** The metrics of repairs: what was found, what was done about it, and how long that took. */
import { FAULT_CLASSES } from '../../api/enums.ts';
import { defineCounter, defineGauge, defineHistogram, type MetricRow } from '../../kube/process/metrics.ts';
import { RULES } from './limits.ts';

const SERVED = { processes: ['controllers'], writtenIn: 'src/controllers/remedyjob/metrics.ts' } as const;

export const REMEDY_FAULTS = defineCounter({
  processes: ['controllers'],
  writtenIn: 'src/controllers/remedy/metrics.ts',
  name: 'remedy_faults_total',
  help: 'Faults that rules found on machines while this process led, by rule and class of the fault.',
  labels: { rule: RULES, fault: FAULT_CLASSES },
  maxSeries: 100,
});

/** A rule has one class of faults and at most eight rungs. */
export const REMEDY_JOBS = defineCounter({
  ...SERVED,
  name: 'remedy_jobs_total',
  help: 'Repair jobs that ended, by rule, rung, class of the fault and class of the outcome.',
  labels: {
    rule: RULES,
    rung: { of: 'rungs', most: 800 },
    fault: FAULT_CLASSES,
    outcome: [
      'Succeeded',
      'Transient',
      'Permanent',
      'Ambiguous',
      'Superseded',
      'Cancelled',
      'HandedOff',
      'unknown',
    ],
  },
  maxSeries: 800,
});

export const NOTICES = defineCounter({
  processes: ['controllers'],
  writtenIn: 'src/controllers/notifier/metrics.ts',
  name: 'notices_total',
  help: 'Notices of repair jobs that were sent to receivers of --notifications, by receiver and outcome: Failed means that the receiver did not take it, Refused that it does not take this notice.',
  labels: { receiver: { of: 'receivers', most: 16 }, outcome: ['Delivered', 'Refused', 'Failed'] },
});

export const REMEDY_REPEATS = defineCounter({
  ...SERVED,
  name: 'remedy_repeats_total',
  help: 'Repairs that succeeded on a machine that the same rule had repaired within 7 days before.',
  labels: { rule: RULES },
});

// A condition is reported within two seconds, and rules wait for minutes.
const DETECTION_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800];
// The Defender answers within a second, or denies for minutes to hours.
const DECISION_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400];
// From the restart of a service to the ladder that ends at the fourth rung.
const HEALING_SECONDS = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];

function byRule(row: Omit<MetricRow<'rule'>, 'labels' | 'processes' | 'writtenIn'>): MetricRow<'rule'> {
  return { ...SERVED, labels: { rule: RULES }, ...row };
}

export const REMEDY_DETECTION = defineHistogram({
  ...byRule({
    name: 'remedy_detection_seconds',
    help: 'Time from the start of a fault until its rule matched, once for each case.',
  }),
  buckets: DETECTION_SECONDS,
});

export const REMEDY_DECISION = defineHistogram({
  ...byRule({
    name: 'remedy_decision_seconds',
    help: 'Time from the match of a rule to the grant of the first job of the case.',
  }),
  buckets: DECISION_SECONDS,
});

export const REMEDY_FIRST_STEP = defineHistogram({
  ...byRule({
    name: 'remedy_first_step_seconds',
    help: 'Time from the match of a rule until the first step of the first job of the case began.',
  }),
  buckets: DECISION_SECONDS,
});

export const REMEDY_HEALING = defineHistogram({
  ...byRule({
    name: 'remedy_healing_seconds',
    help: 'Time from the match of a rule until its repair was verified, with the attempts before.',
  }),
  buckets: HEALING_SECONDS,
});

export const REMEDY_OPEN_JOBS = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/observability/fleet/register.ts',
  name: 'remedy_open_jobs',
  help: 'Repair jobs that have not ended, those that wait included.',
});

export const MACHINE_REPAIRS = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/observability/fleet/register.ts',
  name: 'machine_repairs',
  help: 'Repairs within 7 days of the machines that were repaired most: at most ten machines, each repaired twice or more. 0 without a name: as long as it is served, others have fewer.',
  // And the one without a name.
  labels: { machine: { of: 'the machines repaired most', most: 11 } },
});

export const REMEDY_WAITING = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/observability/fleet/register.ts',
  name: 'remedy_waiting_machines',
  help: 'Machines on which a rule found a fault and does not repair it, by rule and reason: that of the Defender where it denied.',
  labels: { rule: RULES, reason: { of: 'reasons of waits and denials', most: 80 } },
  maxSeries: 300,
});

export const REMEDY_DENIED_SECONDS = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/observability/fleet/register.ts',
  name: 'remedy_denied_seconds',
  help: 'How long the machine that waits longest for a grant of the Defender has waited, by rule and reason.',
  labels: { rule: RULES, reason: { of: 'reasons of denials', most: 60 } },
  maxSeries: 300,
});

export const REPAIR_METRICS = [
  REMEDY_FAULTS,
  REMEDY_JOBS,
  REMEDY_OPEN_JOBS,
  MACHINE_REPAIRS,
  REMEDY_REPEATS,
  REMEDY_DETECTION,
  REMEDY_DECISION,
  REMEDY_FIRST_STEP,
  REMEDY_HEALING,
  REMEDY_WAITING,
  REMEDY_DENIED_SECONDS,
  NOTICES,
];
