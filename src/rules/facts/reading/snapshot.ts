/** Holds what is known of one node at one moment: the input of the readers of facts. */
import type { Machine, MaintenanceEvent, RemedyOperationJob } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { ComponentHistories } from '../../clocks/component-clock.ts';
import type { ConditionHistory } from '../../clocks/condition-clock.ts';
import type { EventCounts } from '../../clocks/event-counts.ts';
import type { TimePoint } from '../../clocks/time-point.ts';

/** Holds for each view why it must not be used; undefined when it can be. */
export interface ViewProblems {
  readonly nodes: string | undefined;
  readonly machines: string | undefined;
  readonly jobs: string | undefined;
  readonly events: string | undefined;
  readonly leases: string | undefined;
  readonly maintenance: string | undefined;
}

export interface NodeSnapshot {
  readonly point: TimePoint;
  readonly problems: ViewProblems;
  readonly machine: Machine | undefined;
  readonly node: KubeObject | undefined;
  /** The history of the conditions of the Node and its Machine. */
  readonly conditions: ConditionHistory | undefined;
  /** How long ago the agent, or the kubelet, last showed that it is alive. Infinity: never. */
  readonly agentAgeMs: number;
  readonly kubeletAgeMs: number;
  readonly jobs: readonly RemedyOperationJob[];
  readonly maintenance: readonly MaintenanceEvent[];
  /** When the last job that did something ended, on the monotonic clock. */
  readonly jobEndedMs: number | undefined;
  readonly components: ComponentHistories | undefined;
  readonly events: EventCounts | undefined;
  /** When the view of Events was complete for the first time. */
  readonly eventsSinceMs: number;
  /** How long ago the API server last sent anything about Events. */
  readonly eventsAgeMs: number;
  /** The version of a MachineComponent; undefined if it is not found. */
  readonly versionOf: (componentRef: string) => string | undefined;
}
