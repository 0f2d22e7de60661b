/** Holds what the Defender knows when it decides. What was not observed is absent or Unknown, and permits nothing. */

import type { Dimensions } from '../../api/diagnosis/dimensions.ts';
import type {
  FleetAllowance,
  MachineHold,
  MachineSilence,
  NodeRemedierSpec,
  PeerAnswer,
  PromqlBlocker,
  Selector,
} from '../../api/generated/types.ts';
import type { Labels } from '../../kube/objects/selector.ts';
import type { AlertResult } from '../alerts/alert-state.ts';
import type { Capacity } from '../capacity/index-of-nodes.ts';
import type { Faults } from './fault-since.ts';

export interface MachineFacts {
  /** Name of the Machine, `hostedControlPlaneKey(cluster)`, or `orphanInstanceKey(machineUid)`. */
  readonly name: string;
  /** Labels of the Machine and its Node. */
  readonly labels: Labels;
  readonly zone?: string;
  readonly pool?: string;
  /** Absent when the machine has no Node. */
  readonly nodeUID?: string;
  readonly nodeCreatedAt?: Date;
  readonly readiness: 'Ready' | 'NotReady' | 'Unknown';
  /** When the readiness became Unknown, by our own clock. */
  readonly unknownSince?: Date;
  /** Whether its agent renews its Lease; absent: it is silent, or was not observed. */
  readonly agentReports?: true;
  /** The power as the provider of its instance told last; absent: not observed. */
  readonly power?: 'On' | 'Off';
  /** The peers whose agents probe the machine while its agent is silent; absent: none was asked. */
  readonly silence?: MachineSilence;
  /** Holds what its own agent found when it probed silent machines. */
  readonly peers?: readonly PeerAnswer[];
  /** Whether the machine was Ready at least once. Until then it is neither counted as available nor as unavailable. */
  readonly established: boolean;
  readonly cordoned: boolean;
  /** Keys of the taints of the Node. */
  readonly taints: readonly string[];
  /** Names of the Leases of other tools that are held; absent: not observed. */
  readonly foreignLeases?: readonly string[];
  /** Names of running Pods by the label that makes them block; absent: not observed. */
  readonly blockingPods?: Labels;
  /** Names of Leases and labels of Pods, as policies name them, that are not observed now; absent: none. */
  readonly unobserved?: readonly string[];
  /** The holds that people set on the Machine or its Node: each has its own end. */
  readonly holds?: readonly MachineHold[];
  /** Whether the label `kubenode.dev/exclude` is set on the Machine or its Node. */
  readonly excluded: boolean;
  /** Whether the Cluster of a hosted control plane is paused. */
  readonly paused: boolean;
  /** Whether pods keep data on the machine; absent: not observed. */
  readonly hasLocalData?: boolean;
  /** Repairs of this hardware, newest first; absent: not observed. */
  readonly repairs?: readonly RepairFact[];
  readonly isControlPlane: boolean;
  /** Values of the dimensions that common causes are searched in: `kernelVersion`, `rack`. */
  readonly dimensions?: Dimensions;
  /** Conditions of the Node that show a fault, and since when; absent: none. */
  readonly faults?: Faults;
  /** Rules that cannot tell whether the machine is faulty; absent: none. */
  readonly unknownFacts?: readonly UnknownFact[];
}

/** Describes what a rule needs to know about a machine, and does not. */
export interface UnknownFact {
  /** Name of the NodeRemedier. */
  readonly rule: string;
  readonly since: Date;
  /** Names the facts. */
  readonly message: string;
}

export interface RepairFact {
  readonly at: Date;
  readonly rebooted: boolean;
  /** The name of the job whose steps failed and changed nothing. */
  readonly unchangedBy?: string;
  /** The rule whose job replaced an earlier Machine on this hardware. */
  readonly replacedFor?: string;
}

/** Describes whether our own view can be trusted. */
export interface ViewFacts {
  /** How many seconds ago the stalest view had contact; undefined: a view is not complete. */
  readonly ageSeconds: number | undefined;
  /** Failed requests of the last minute. */
  readonly apiErrorPercent: number | undefined;
  /** Difference between our wall clock and the API server's. */
  readonly clockSkewSeconds: number | undefined;
  /** The largest difference of the last minute; absent: there was no other. */
  readonly worstClockSkewSeconds?: number;
}

export interface ControlPlaneMember {
  readonly machine: string;
  readonly etcd: 'Healthy' | 'Unhealthy' | 'Unknown';
  readonly apiServer: 'Ready' | 'NotReady' | 'Unknown';
  readonly isLeader: boolean;
  /** Whether the member is ill, or not up to date: then it goes before the leader. */
  readonly needsWork: boolean;
}

/** Counts of the established machines of a group. */
export interface GroupCounts {
  readonly total: number;
  /** Number of machines by the states in which they are: index is a sum of `STATE_BITS`. */
  readonly byStates: readonly number[];
}

/** States of a machine that take it out of service. */
export const STATE_BITS = { NotReady: 1, Unknown: 2, Cordoned: 4, ForeignMaintenance: 8 } as const;

export const NO_MACHINES: GroupCounts = { total: 0, byStates: [] };

/** Counts the machines of the group that are in one of the states. */
export function countStates({ byStates }: GroupCounts, mask: number): number {
  let sum = 0;
  for (let states = 1; states < byStates.length; states += 1) {
    if ((states & mask) !== 0) sum += byStates[states] ?? 0;
  }
  return sum;
}

/** `None`: the cluster has no allowance. Undefined: it was not observed. */
export type ObservedAllowance = FleetAllowance | 'None' | undefined;

export interface FleetFacts {
  readonly view: ViewFacts;
  machine(name: string): MachineFacts | undefined;
  machines(): Iterable<MachineFacts>;
  /** States of the machine, as a sum of `STATE_BITS`; 0: it serves. */
  statesOf(machine: MachineFacts): number;
  /** Counts of one group of a grouping, by `Grouping.id`. */
  group(grouping: string, key: string): GroupCounts;
  /** Keys of all groups of a grouping. */
  groupKeys(grouping: string): readonly string[];
  /** Established machines whose Node was created later. */
  createdAfter(moment: Date): readonly MachineFacts[];
  /** Established machines of which a condition shows a fault. */
  faulty(): Iterable<MachineFacts>;
  /** Established machines of which facts are unknown that a rule in mode Enforce needs; undefined: not observed. */
  withUnknownFacts(): readonly MachineFacts[] | undefined;
  /** Returns the mode of a rule, or that it does not exist. Absent: rules are not observed. */
  modeOfRule?(rule: string): NodeRemedierSpec['mode'] | 'Absent';
  /** Returns since when the machines that are Unknown now are so: of all machines, or of those that are selected. */
  unknownSince(selector?: Selector): readonly Date[];
  /** Members of the control plane; undefined: could not be read. */
  readonly controlPlane: readonly ControlPlaneMember[] | undefined;
  /** Returns how many machines of the pool are to be created or were never Ready; undefined: not observed. */
  missingIn(pool: string): number | undefined;
  /** Returns how many machines the pool has to have; undefined: not observed. */
  desiredIn(pool: string): number | undefined;
  /** Zones that their provider reports as failing. */
  readonly zonalShifts: ReadonlySet<string>;
  /** The allowance of the hub; absent: it was not observed. */
  readonly allowance?: ObservedAllowance;
  /** Pods and the amounts that they take of each Node; absent: no policy asks for it, or it was not observed. */
  readonly capacity?: Capacity | undefined;
  /** Tells whether a query of the policy returned samples. */
  alert(policy: string, blocker: Pick<PromqlBlocker, 'name' | 'query'>): AlertResult;
}
