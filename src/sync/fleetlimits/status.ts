/** The status of a FleetPolicy: how much of each limit is in use, who waits, and which clusters the hub does not reach. Pure. */
import { MAX_FLEET_LIMITS } from '../../api/enums.ts';
import type {
  FleetCutOffCluster,
  FleetLimitUsage,
  FleetPolicy,
  FleetPolicyStatus,
  FleetWaiting,
  FoundCause,
} from '../../api/generated/types.ts';
import { isEngaged } from '../../api/status/pauses.ts';
import { fleetPolicyPhases } from '../../api/status/phase-tables.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { recentFailedRollouts } from './causes/failed-rollouts.ts';
import { hasValid, useOf } from './committed.ts';
import type { LinkedCluster } from './fleet.ts';
import type { FleetReconcile } from './leader.ts';
import { shortClusterList } from './short-cluster-list.ts';

const SHOWN = 20;

export function fleetPolicyStatus(
  policy: FleetPolicy,
  { input, plan, causes }: FleetReconcile,
): FleetPolicyStatus {
  const { now } = input;
  const { status, metadata } = policy;
  const clusters = input.clusters.filter(({ labels }) => isSelected(policy.spec.clusterSelector, labels));
  const lost = clusters.filter(({ state }) => state !== 'Known' && state !== 'Joining');
  const isStopping = isEngaged(policy.spec.killSwitch, now);
  const stopped = clusters.filter((cluster) => isStopping && hasStopped(cluster));
  const held = causes.get(metadata.name) ?? [];
  const findings = [
    leftOut(policy, plan) ?? inForce(clusters, lost, now),
    reached(lost),
    causeFound(held),
    killSwitch(policy, { isStopping, total: clusters.length, stopped: stopped.length }),
  ];
  const conditions = withConditions(status?.conditions, findings, now, metadata.generation);
  return {
    ...optional('observedGeneration', metadata.generation),
    phase: fleetPolicyPhases.phaseOf({ conditions }),
    conditions,
    clusters: {
      total: clusters.length,
      current: clusters.filter((cluster) => isCurrent(cluster, now)).length,
      stopped: stopped.length,
      cutOff: lost.slice(0, SHOWN).map(lostCluster),
    },
    limits: usages(policy, { clusters, plan }),
    waiting: waits(policy, plan),
    ...((policy.spec.commonCause ?? policy.spec.failedRollouts) ? { causes: held } : {}),
    ...(policy.spec.failedRollouts
      ? { failedRollouts: recentFailedRollouts({ policy, clusters, now }).length }
      : {}),
  };
}

/** Its Defender has adopted an allowance with a stop. */
function hasStopped({ allowance }: LinkedCluster): boolean {
  const conditions = allowance?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'KillSwitchEngaged' && status === 'True');
}

function isCurrent(cluster: LinkedCluster, now: Date): boolean {
  return cluster.state === 'Known' && hasValid(cluster, now);
}

function lostCluster({ name, since, state, because }: LinkedCluster): FleetCutOffCluster {
  const message = because === undefined ? state : `${state}: ${because}`;
  return { cluster: name, since: since.toISOString(), message: message.slice(0, 256) };
}

type Usages = { readonly clusters: readonly LinkedCluster[] } & Pick<FleetReconcile, 'plan'>;

function usages({ metadata: { name } }: FleetPolicy, { clusters, plan }: Usages): readonly FleetLimitUsage[] {
  return plan.rooms
    .filter(({ limit }) => limit.policy === name)
    .map((room) => {
      const { limit } = room;
      const using = clusters.filter((cluster) => (useOf(cluster, limit.id)?.used ?? 0) > 0);
      const used =
        limit.kind === 'Rate'
          ? using.reduce((sum, cluster) => sum + (useOf(cluster, limit.id)?.used ?? 0), 0)
          : new Set(using.map((cluster) => limit.groupOf(cluster))).size;
      return { id: limit.id, used, given: room.total(), max: limit.max };
    });
}

function waits(
  { metadata: { name } }: FleetPolicy,
  { waiting, limits }: FleetReconcile['plan'],
): readonly FleetWaiting[] {
  const own = new Set(limits.filter(({ policy }) => policy === name).map(({ id }) => id));
  return waiting
    .filter(({ limit }) => own.has(limit))
    .slice(0, SHOWN)
    .map(({ cluster, limit, since, because }) => ({
      cluster,
      limit,
      since: since.toISOString(),
      message: because.slice(0, 256),
    }));
}

/** A limit that is in no allowance holds nowhere. */
function leftOut(
  { metadata: { name }, spec: { concurrency, rates } }: FleetPolicy,
  { limits }: FleetReconcile['plan'],
): ConditionUpdate | undefined {
  const missing = concurrency.length + rates.length - limits.filter(({ policy }) => policy === name).length;
  if (missing === 0) return undefined;
  const message = `${missing} limits hold nowhere: all FleetPolicies together may have ${MAX_FLEET_LIMITS}, in the order of their names. Remove limits in git`;
  return { type: 'InForce', status: 'False', reason: 'TooManyLimits', message };
}

function inForce(
  clusters: readonly LinkedCluster[],
  lost: readonly LinkedCluster[],
  now: Date,
): ConditionUpdate {
  const type = 'InForce';
  const behind = clusters.filter((cluster) => !lost.includes(cluster) && !isCurrent(cluster, now));
  if (behind.length === 0) {
    return {
      type,
      status: 'True',
      reason: 'Current',
      message: 'every cluster that is reached keeps to its share',
    };
  }
  const message = `not adopted yet by ${names(behind)}: does kubenode controllers run there?`;
  return { type, status: 'False', reason: 'NotAdopted', message };
}

function reached(lost: readonly LinkedCluster[]): ConditionUpdate {
  const type = 'ClustersReached';
  if (lost.length === 0) {
    return { type, status: 'True', reason: 'AllReached', message: 'every cluster is reached' };
  }
  const message = `${names(lost)}: each continues at its floor when its allowance has ended`;
  return { type, status: 'False', reason: 'CutOff', message };
}

function names(clusters: readonly LinkedCluster[]): string {
  return shortClusterList(clusters.map(({ name }) => name));
}

interface Stopping {
  readonly isStopping: boolean;
  readonly total: number;
  readonly stopped: number;
}

function killSwitch({ spec }: FleetPolicy, { isStopping, total, stopped }: Stopping): ConditionUpdate {
  const type = 'KillSwitchEngaged';
  if (!isStopping) {
    return { type, status: 'False', reason: 'NotEngaged', message: 'automation is not stopped' };
  }
  const { by = 'unknown', reason = 'no reason given' } = spec.killSwitch;
  const message = `${stopped} of ${total} clusters have stopped; by ${by}: ${reason}`;
  return { type, status: 'True', reason: stopped === total ? 'AllStopped' : 'Stopping', message };
}

/** Whether something is held because it failed in several clusters. */
function causeFound(held: readonly FoundCause[]): ConditionUpdate {
  const type = 'CommonCauseFound';
  const [first] = held;
  if (!first) {
    return {
      type,
      status: 'False',
      reason: 'NoneFound',
      message: 'nothing is held for failures in several clusters',
    };
  }
  const more = held.length > 1 ? `; and ${held.length - 1} more` : '';
  const message = `${first.message} (held until ${first.until})${more}`;
  return { type, status: 'True', reason: 'FailedInSeveral', message };
}
