/**
 * Decides whether one machine is available: the only place that does, for the phase of a Machine, the counts of its set, and the limits
 * of a rollout. Pure. Where they differ, the difference is in `AvailabilityBasis`, or a check that the caller names.
 */
import { conditionOf } from '../../kube/objects/conditions.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsAfter } from '../../os/dates.ts';
import type { Machine } from '../generated/types.ts';
import { hasStartupTaint, isCordoned, parseTime, readinessOf } from './node-state.ts';

export interface AvailabilityInput {
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node: KubeObject | undefined;
  readonly now: Date;
}

export type AvailabilityBasis =
  /**
   * A rollout limits what it takes out of service itself, so it judges Node and Lease as they are now, and does not wait for a report.
   * A Node that is cordoned takes no pods.
   */
  | { readonly by: 'Observation'; readonly isSilent: boolean }
  /**
   * A set counts what the machine controller reported: that the machine is in service, and Node, agent, components and readiness gates
   * are well. A cordon does not count: others end it, and the set replaces no machine for it.
   */
  | { readonly by: 'Report'; readonly minReadySeconds: number };

export interface Availability {
  /** Why the machine is not available. Undefined: it is. */
  readonly unavailable?: string;
  /** Since when it is available, or when time alone makes it so. Known of a report only. */
  readonly from?: Date;
}

export function availabilityOf(input: AvailabilityInput, basis: AvailabilityBasis): Availability {
  if (basis.by === 'Report') return reportedAvailability(input, basis.minReadySeconds);
  return optional('unavailable', observedReason(input.node, basis.isSilent));
}

/** Returns why a machine is not in service. One whose Node registers again is not, until its start-up taint is removed. */
export function outOfServiceReason(node: KubeObject | undefined): string | undefined {
  if (!node) return 'it has no Node';
  return hasStartupTaint(node) ? 'its Node has the start-up taint' : undefined;
}

function observedReason(node: KubeObject | undefined, isSilent: boolean): string | undefined {
  const reason = outOfServiceReason(node);
  if (reason !== undefined) return reason;
  const readiness = readinessOf(node);
  if (readiness !== 'Ready') return readiness === 'Unknown' ? 'its Node is Unknown' : 'its Node is not Ready';
  if (isSilent) return 'its agent is silent';
  return isCordoned(node) ? 'its Node is cordoned' : undefined;
}

function reportedAvailability({ machine, now }: AvailabilityInput, minReadySeconds: number): Availability {
  const ready = conditionOf(machine.status?.conditions, 'Ready');
  if (!ready) return { unavailable: 'it has not reported Ready' };
  if (ready.status !== 'True') return { unavailable: `${ready.reason}: ${ready.message}` };
  const since = parseTime(ready.lastTransitionTime);
  const from = since && secondsAfter(since, minReadySeconds);
  if (from && from <= now) return { from };
  return { unavailable: 'it has not been Ready for spec.minReadySeconds', ...optional('from', from) };
}
