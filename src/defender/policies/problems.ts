/**
 * Finds why a policy cannot be decided by. The CRD refuses most of this already; an object that was stored before its CRD, or
 * edited past it, must not become a policy without limits.
 */

import type { Amount, DefenderPolicy, DefenderPolicySpec } from '../../api/generated/types.ts';
import { FLEET_DEFAULT, NAMESPACE_OF_NODE_LEASES } from '../../api/names.ts';
import { isRecord } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { messageOf } from '../../os/errors.ts';
import { resolveIntOrPercent } from '../../rollout/int-or-percent.ts';
import { isTimeZone } from '../../rollout/maintenance-windows.ts';
import { namespaceOfLease } from '../facts/signs/lease-names.ts';

/** Outcomes of acts are kept in a list of the ledger of this length. */
const MAX_OUTCOMES = 24;

/** Returns the problems of a policy as git contains it, which its schema accepts: fields that have a default may be absent. */
export function declaredPolicyProblems({ metadata, ...object }: KubeObject): readonly string[] {
  const spec = isRecord(object['spec']) ? object['spec'] : {};
  const scope = isRecord(spec['scope']) ? spec['scope'] : {};
  const selector = isRecord(scope['nodeSelector']) ? scope['nodeSelector'] : {};
  const nodeSelector = { all: false, ...selector };
  const declared = { ...UNSET, ...spec, scope: { ...EVERYTHING, ...scope, nodeSelector } };
  return policyProblems({ metadata, spec: declared } as unknown as DefenderPolicy);
}

const UNSET = {
  mode: 'Enforce',
  killSwitch: { engaged: false },
  concurrency: [],
  rates: [],
  breakers: [],
  quiet: [],
  freezes: [],
  blockers: {},
};
const EVERYTHING = { actions: [], risks: [], holders: [] };

export function policyProblems({ metadata, spec }: DefenderPolicy): readonly string[] {
  return [
    ...scopeProblems(spec),
    ...(metadata.name === FLEET_DEFAULT ? fleetDefaultProblems(spec) : []),
    ...spec.concurrency.flatMap(({ name, max }) => amountProblems(`concurrency ${name}`, max)),
    ...rateProblems(spec),
    ...breakerProblems(spec),
    ...timeProblems(spec),
    ...blockerProblems(spec),
  ];
}

const LABEL = /^([a-z0-9.-]+\/)?[\w.-]+(=[\w.-]*)?$/i;

/** An object as git contains it may lack the lists. */
function blockerProblems({
  blockers: { foreign = [], podLabels = [] },
}: {
  readonly blockers: Partial<DefenderPolicySpec['blockers']>;
}): readonly string[] {
  const leases = foreign.flatMap(({ lease }) => (lease === undefined ? [] : leaseProblems(lease)));
  const labels = podLabels.filter((label) => !LABEL.test(label));
  return [
    ...leases,
    ...labels.map((label) => `blockers.podLabels: ${label} is not a label: use key=value or key`),
  ];
}

function leaseProblems(lease: string): readonly string[] {
  const namespace = namespaceOfLease(lease);
  if (namespace === undefined) {
    return [
      `blockers.foreign: ${lease} is not the namespace and name of a Lease: use medik8s-leases/node-{node}`,
    ];
  }
  return namespace === NAMESPACE_OF_NODE_LEASES
    ? [`blockers.foreign: ${lease} is in ${namespace}, where the Leases are those of kubelets`]
    : [];
}

function scopeProblems({ scope: { nodeSelector } }: DefenderPolicySpec): readonly string[] {
  const { all, matchLabels, matchExpressions } = nodeSelector;
  const conditions = Object.keys(matchLabels ?? {}).length + (matchExpressions ?? []).length;
  if (all === conditions > 0) {
    return ['scope.nodeSelector must either have conditions or set all: true'];
  }
  return [];
}

function fleetDefaultProblems({ mode, scope, concurrency }: DefenderPolicySpec): readonly string[] {
  const narrowed = scope.actions.length + scope.risks.length + scope.holders.length > 0;
  return [
    ...(mode === 'Audit' ? [`${FLEET_DEFAULT} must be in mode Enforce`] : []),
    ...(scope.nodeSelector.all && !narrowed ? [] : [`${FLEET_DEFAULT} must apply to all nodes and acts`]),
    ...(concurrency.length === 0 ? [`${FLEET_DEFAULT} must limit concurrency`] : []),
  ];
}

function amountProblems(what: string, amount: Amount): readonly string[] {
  try {
    const limit = resolveIntOrPercent(amount, 100);
    return Number.isInteger(limit) && limit >= 0 ? [] : [`${what}: max must not be negative`];
  } catch (error) {
    return [`${what}: ${messageOf(error)}`];
  }
}

function rateProblems({ rates }: DefenderPolicySpec): readonly string[] {
  return rates.flatMap(({ name, max, burst = max, windowSeconds }) => [
    ...(burst > max ? [`rate ${name}: burst must not exceed max`] : []),
    ...(windowSeconds > 0 ? [] : [`rate ${name}: windowSeconds must be positive`]),
  ]);
}

function breakerProblems({ breakers }: DefenderPolicySpec): readonly string[] {
  return breakers.flatMap(({ name, type, count = 0, withinSeconds, dimensions = [] }) => [
    ...(withinSeconds === undefined && count > MAX_OUTCOMES
      ? [`breaker ${name}: count must not exceed ${MAX_OUTCOMES} without withinSeconds`]
      : []),
    ...(type === 'CommonCause' && dimensions.length === 0
      ? [`breaker ${name}: CommonCause needs at least one of dimensions`]
      : []),
  ]);
}

function timeProblems({ quiet, freezes, killSwitch }: DefenderPolicySpec): readonly string[] {
  return [
    ...quiet.flatMap(({ name, timeZone }) =>
      isTimeZone(timeZone) ? [] : [`quiet ${name}: unknown time zone ${timeZone}`],
    ),
    ...freezes.flatMap(({ name, from, until }) =>
      Date.parse(from) < Date.parse(until) ? [] : [`freeze ${name}: from must be before until`],
    ),
    ...(killSwitch.until !== undefined && Number.isNaN(Date.parse(killSwitch.until))
      ? ['killSwitch.until is not a time']
      : []),
  ];
}
