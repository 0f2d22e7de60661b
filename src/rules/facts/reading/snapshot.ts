/** Holds what is known of one node at one moment: the input of the readers of facts. */
import type { Sign } from '../../../api/diagnosis/evidence.ts';
import type { Machine } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { ComponentHistories } from '../../clocks/component-clock.ts';
import type { ConditionHistory } from '../../clocks/condition-clock.ts';
import type { EventCounts } from '../../clocks/event-counts.ts';
import type { TimePoint } from '../../clocks/time-point.ts';
import type { FactViewName, MachineView, ViewObject } from '../../views.ts';
import type { AffectedCounts, AffectedQuery } from './affected.ts';
import type { Workload } from './workload.ts';

/** Holds for each view why it must not be used; undefined when it can be. */
export type ViewProblems = Readonly<Record<FactViewName, string | undefined>>;

/** Holds the objects that are about one machine. */
export type MachineObjects = { readonly [V in MachineView]: readonly ViewObject<V>[] };

/** Holds what was read of the Pods of a node. */
export interface KnownWorkload {
  readonly answer: Workload | { readonly problem: string };
  readonly ageMs: number;
}

/** Holds what the last good answer of Prometheus to a query has for a machine. */
export interface KnownMetric {
  /** The value, or why there is none. */
  readonly sample: number | string;
  readonly ageMs: number;
  /** Why a later answer was not good. */
  readonly problem: string | undefined;
}

export interface NodeSnapshot {
  readonly point: TimePoint;
  readonly problems: ViewProblems;
  readonly machine: Machine | undefined;
  readonly node: KubeObject | undefined;
  readonly objects: MachineObjects;
  /** Returns an object that is not about this machine alone, by its name. */
  readonly find: <V extends FactViewName>(view: V, name: string) => ViewObject<V> | undefined;
  /** Returns what was read of the Pods of the node, or why nothing was; and for how long it is not read again. */
  readonly workload: () => { readonly known: KnownWorkload | string; readonly againMs: number };
  /** Returns what Prometheus answered for the machine, or why nothing is known. */
  readonly metric: (query: string) => KnownMetric | string;
  /** The history of the conditions of the Node and its Machine. */
  readonly conditions: ConditionHistory | undefined;
  /** How long ago the agent, or the kubelet, last showed that it is alive. Infinity: never. */
  readonly agentAgeMs: number;
  readonly kubeletAgeMs: number;
  /** Reads whether machines near this one report. It reads the whole fleet. */
  readonly peers: () => Sign;
  /** Why other nodes must not be counted; undefined when they can be. */
  readonly fleetProblem: string | undefined;
  /** Counts the machines that are affected by a fault as this one may be, for each value of the scope that it has. */
  readonly affected: (query: AffectedQuery) => readonly AffectedCounts[];
  /** When the last job that did something ended, on the monotonic clock. */
  readonly jobEndedMs: number | undefined;
  readonly components: ComponentHistories | undefined;
  readonly events: EventCounts | undefined;
  /** When the view of Events was complete for the first time. */
  readonly eventsSinceMs: number;
  /** Returns how long ago the API server last sent anything about the objects of a view. */
  readonly viewAgeMs: (view: FactViewName) => number;
}
