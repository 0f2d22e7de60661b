/** Describes FleetPolicies for people: the use of its limits, who waits, which clusters are not served, and what it stops. Pure. */

import { valueKey } from '../../api/diagnosis/dimensions.ts';
import type { FleetLimitUsage, FleetPolicy, FleetPolicyClusters } from '../../api/generated/types.ts';
import { KILL_SWITCH } from '../../api/names.ts';
import { isEngaged } from '../../api/status/pauses.ts';
import { fleetPolicyPhases } from '../../api/status/phase-tables.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { declaredFleetLimits } from '../../rollout/fleet-words.ts';

export interface FleetLimitsView {
  /** In the order of their names. */
  readonly policies: readonly FleetPolicyView[];
  /** Why no process hands out allowances. Absent: one does, or there is no policy. */
  readonly unlimited?: string;
}

export interface FleetPolicyView {
  readonly name: string;
  readonly phase: string;
  /** The message of the condition that the phase comes from. Empty: there is nothing to explain. */
  readonly because: string;
  /** The selected clusters, and how many of them keep to a valid allowance. */
  readonly clusters: { readonly total: number; readonly current: number };
  readonly limits: readonly FleetLimitView[];
  /** The causes that failed in several clusters, and are held in all of them. */
  readonly held: readonly HeldCauseView[];
  /** The clusters that wait for a share, the longest wait first. */
  readonly waiting: readonly FleetWaitView[];
  /** The clusters that the hub does not reach or does not serve. */
  readonly notServed: readonly NotServedView[];
  /** Absent: it stops nothing. */
  readonly stop?: FleetStopView;
}

export interface FleetLimitView {
  /** `<policy>/<limit>`. */
  readonly id: string;
  /** The counted things, and when: `clusters in work at once`. */
  readonly counts: string;
  readonly max: number;
  /** Absent: no process of sync has reported the use yet. */
  readonly use?: FleetLimitUseView;
}

export interface FleetLimitUseView {
  readonly used: number;
  /** The shares of all clusters, with what is counted for those that are not reached. */
  readonly handedOut: number;
}

export interface HeldCauseView {
  /** `<dimension>=<value>`, as git rules it out. */
  readonly cause: string;
  readonly since: string;
  readonly until: string;
  /** The failure, and in which clusters. */
  readonly because: string;
}

export interface FleetWaitView {
  readonly cluster: string;
  readonly limit: string;
  readonly since: string;
  readonly because: string;
}

export interface NotServedView {
  readonly cluster: string;
  readonly since: string;
  readonly because: string;
}

export interface FleetStopView {
  /** Whether it stops all clusters, and not only selected ones. */
  readonly isForAll: boolean;
  /** Whether no commit begins in any cluster meanwhile, not even a revert. */
  readonly holdsPromotion: boolean;
  readonly scope: string;
  readonly by: string;
  readonly reason: string;
  readonly since?: string;
  readonly until?: string;
  /** How many clusters have stopped. */
  readonly progress: string;
  /** The command or the commit that ends it. */
  readonly resume: string;
}

const NOT_ACTED = 'no process of sync has acted on it yet: does kubenode sync run?';

/** The condition that the phase comes from. */
const TELLING = {
  Stopped: 'KillSwitchEngaged',
  NotReady: 'InForce',
  Held: 'CommonCauseFound',
  CutOff: 'ClustersReached',
  InForce: '',
};

export function viewFleetPolicy(policy: FleetPolicy, now: Date): FleetPolicyView {
  const { metadata, status } = policy;
  return {
    name: metadata.name,
    ...explainFleetPhase(policy),
    clusters: countsOf(status),
    limits: limitViews(policy),
    held: heldViews(status?.causes),
    waiting: waitViews(status?.waiting),
    notServed: notServedViews(status?.clusters?.cutOff),
    ...optional('stop', stopView(policy, now)),
  };
}

type PolicyStatus = NonNullable<FleetPolicy['status']>;

function countsOf(status: PolicyStatus | undefined): FleetPolicyView['clusters'] {
  const { total = 0, current = 0 } = status?.clusters ?? {};
  return { total, current };
}

function heldViews(causes: PolicyStatus['causes'] = []): readonly HeldCauseView[] {
  return causes.map(({ dimension, value, since, until, message }) => ({
    cause: printableLine(valueKey(dimension, value)),
    since,
    until,
    because: printableLine(message),
  }));
}

function waitViews(waiting: PolicyStatus['waiting'] = []): readonly FleetWaitView[] {
  return waiting.map(({ message = '', ...wait }) => ({ ...wait, because: printableLine(message) }));
}

function notServedViews(lost: FleetPolicyClusters['cutOff'] = []): readonly NotServedView[] {
  return lost.map(({ message = '', ...each }) => ({ ...each, because: printableLine(message) }));
}

export function explainFleetPhase({ status }: FleetPolicy): Pick<FleetPolicyView, 'phase' | 'because'> {
  const conditions = status?.conditions ?? [];
  const phase = fleetPolicyPhases.phaseOf({ conditions });
  if (conditions.length === 0) return { phase, because: NOT_ACTED };
  return { phase, because: printableLine(conditionOf(conditions, TELLING[phase])?.message ?? '') };
}

/** The limits as git declares them: what was reported of a limit that was removed is left out. */
function limitViews(policy: FleetPolicy): readonly FleetLimitView[] {
  return declaredFleetLimits(policy).map(({ id, counts, max }) => {
    const found = policy.status?.limits?.find((each) => each.id === id);
    return { id, counts, max, ...optional('use', found && useOf(found)) };
  });
}

function useOf(found: FleetLimitUsage): FleetLimitUseView {
  return { used: found.used ?? 0, handedOut: found.given ?? 0 };
}

function stopView(policy: FleetPolicy, now: Date): FleetStopView | undefined {
  const { killSwitch, clusterSelector } = policy.spec;
  if (!isEngaged(killSwitch, now)) return undefined;
  const { by, reason, scope, until } = killSwitch;
  const isForAll = clusterSelector.all;
  return {
    isForAll,
    holdsPromotion: isForAll && scope !== 'Remedy',
    scope,
    by: printableLine(by ?? 'unknown'),
    reason: printableLine(reason ?? 'no reason given'),
    ...stopProgress(policy),
    ...optional('until', until),
    resume: resumeText(policy),
  };
}

function stopProgress({ metadata, status }: FleetPolicy): Pick<FleetStopView, 'since' | 'progress'> {
  const found = conditionOf(status?.conditions, 'KillSwitchEngaged');
  if (found?.status === 'True') {
    return { since: found.lastTransitionTime, progress: stoppedText(status?.clusters) };
  }
  // A person creates the policy to stop; one of git is older than its stop.
  const since = metadata.name === KILL_SWITCH ? metadata.creationTimestamp : undefined;
  return { ...optional('since', since), progress: NOT_ACTED };
}

function stoppedText({ stopped = 0, total = 0 }: Partial<FleetPolicyClusters> = {}): string {
  return `${stopped} of ${total} clusters have stopped`;
}

function resumeText({ metadata: { name } }: FleetPolicy): string {
  return name === KILL_SWITCH
    ? 'kubenode fleet resume'
    : `remove spec.killSwitch of FleetPolicy ${name} in the fleet repository`;
}
