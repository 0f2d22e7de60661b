/** The objectives of kubenode. Recording rules, alerts, promtool tests and docs/reference/slos.md are generated from this list. */
import type { Slo } from './slo.ts';

export const SLOS: readonly Slo[] = [
  {
    name: 'machines-ready',
    alert: 'MachinesReady',
    promise: '99.5 % of the machines that are in service are Ready',
    objective: 0.995,
    indicator: { type: 'States', gauge: 'machines', label: 'state', good: 'Ready', bad: 'NotReady' },
    scope: 'cluster',
    runbook: 'machines-ready',
  },
  {
    name: 'agents-reporting',
    alert: 'AgentsReporting',
    promise: '99.9 % of the agents that have joined report',
    objective: 0.999,
    indicator: { type: 'States', gauge: 'agents', label: 'state', good: 'Reporting', bad: 'Silent' },
    scope: 'cluster',
    runbook: 'agents-reporting',
  },
  {
    name: 'fault-to-decision',
    alert: 'FaultToDecision',
    promise: '95 % of the faults that a rule found have a grant within 60 s',
    objective: 0.95,
    indicator: { type: 'Durations', histogram: 'remedy_decision_seconds', limitSeconds: 60, minEvents: 5 },
    scope: 'cluster',
    runbook: 'fault-to-decision',
  },
  {
    name: 'fault-to-healed',
    alert: 'FaultToHealed',
    promise: '95 % of the repairs that succeed are verified within 10 minutes after the rule found the fault',
    objective: 0.95,
    indicator: { type: 'Durations', histogram: 'remedy_healing_seconds', limitSeconds: 600, minEvents: 5 },
    scope: 'cluster',
    runbook: 'fault-to-healed',
  },
  {
    name: 'push-to-first-stage',
    alert: 'PushToFirstStage',
    promise: '95 % of the commits begin in their first stage within 60 s after sync heard of them',
    objective: 0.95,
    indicator: {
      type: 'Durations',
      histogram: 'sync_push_to_first_stage_seconds',
      limitSeconds: 60,
      minEvents: 5,
    },
    scope: 'hub',
    runbook: 'push-to-first-stage',
  },
  {
    name: 'drift-corrected',
    alert: 'DriftCorrected',
    promise: '95 % of the differences that sync finds are written back within 60 s',
    objective: 0.95,
    indicator: {
      type: 'Durations',
      histogram: 'sync_drift_correction_seconds',
      limitSeconds: 60,
      minEvents: 5,
    },
    scope: 'hub',
    runbook: 'drift-corrected',
  },
];
