/** All metrics of kubenode, from which docs/reference/metrics.md is generated. A test compares it with what each process serves. */
import type { MetricDefinition } from '../../kube/process/metrics.ts';
import { RUNTIME_METRICS } from '../../kube/process/metrics-runtime.ts';
import { AGENT_METRICS } from './agent.ts';
import { DEFENDER_METRICS } from './defender.ts';
import { DELIVERY_METRICS } from './delivery.ts';
import { HOSTING_METRICS } from './hosting.ts';
import { MACHINE_METRICS } from './machine.ts';
import { PROCESS_METRICS } from './process.ts';
import { REPAIR_METRICS } from './repair.ts';
import { ROLLOUT_METRICS } from './rollout.ts';
import { SYNC_METRICS } from './sync.ts';
import { TRACE_METRICS } from './traces.ts';

export interface MetricGroup {
  readonly title: string;
  readonly metrics: readonly MetricDefinition[];
}

export const METRIC_GROUPS: readonly MetricGroup[] = [
  { title: 'Machines and components', metrics: MACHINE_METRICS },
  { title: 'Repairs', metrics: REPAIR_METRICS },
  { title: 'Rollouts', metrics: ROLLOUT_METRICS },
  { title: 'The Defender', metrics: DEFENDER_METRICS },
  { title: 'Sync', metrics: SYNC_METRICS },
  { title: 'Delivery of commits', metrics: DELIVERY_METRICS },
  { title: 'Traces', metrics: TRACE_METRICS },
  { title: 'Hosted control planes', metrics: HOSTING_METRICS },
  { title: 'Every process', metrics: [...PROCESS_METRICS, ...RUNTIME_METRICS] },
  { title: 'The agent', metrics: AGENT_METRICS },
];

export const METRIC_TABLE: readonly MetricDefinition[] = METRIC_GROUPS.flatMap(({ metrics }) => metrics);

/** The parts of the program that serve metrics. */
export const METRIC_PROCESSES = ['controllers', 'sync', 'hosting', 'agent'] as const;
export type MetricProcess = (typeof METRIC_PROCESSES)[number];

export const METRIC_PREFIX = 'kubenode_';
