/** Prepares policies for decisions: checked once, with their groupings and the states that they count. Pure. */
import type {
  Breaker,
  ConcurrencyLimit,
  DefenderPolicy,
  DefenderPolicySpec,
} from '../../api/generated/types.ts';
import { STATE_BITS } from '../facts/facts.ts';
import { createGrouping, type GroupedPer, type Grouping } from '../facts/grouping.ts';
import { policyProblems } from './problems.ts';
import { createQuietStates, type QuietStates } from './quiet.ts';

export interface PreparedLimit {
  readonly limit: ConcurrencyLimit;
  /** Absent for per: Holder, which counts acts and not machines. */
  readonly grouping?: Grouping;
}

export interface PreparedPolicy {
  readonly name: string;
  readonly spec: DefenderPolicySpec;
  /** False in mode Audit: its denials are recorded, and deny nothing. */
  readonly enforced: boolean;
  readonly limits: readonly PreparedLimit[];
  /** The sum of `STATE_BITS` for the states that `counting.include` lists. */
  readonly countedStates: number;
  readonly countsInFlight: boolean;
  readonly countsDeleted: boolean;
  readonly zones: Grouping;
  readonly pools: Grouping;
  readonly cluster: Grouping;
  readonly quietState: QuietStates;
}

export interface PreparedPolicies {
  readonly valid: readonly PreparedPolicy[];
  /** Problems of policies in mode Enforce, by name: they deny every ask. */
  readonly problems: ReadonlyMap<string, readonly string[]>;
  /** Every grouping that a decision or a breaker counts in. */
  readonly groupings: readonly Grouping[];
}

/** Prepares policies, sorted by name, so that answers do not depend on the order of a list. */
export function preparePolicies(
  policies: readonly DefenderPolicy[],
  problemsOf: (policy: DefenderPolicy) => readonly string[] = policyProblems,
): PreparedPolicies {
  const checked = policies
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((policy) => ({ policy, problems: problemsOf(policy) }));
  const valid = checked.flatMap(({ policy, problems }) => {
    if (problems.length === 0) return prepare(policy);
    return isEnforced(policy) || !policy.spec.killSwitch.engaged ? [] : prepare(onlyKillSwitch(policy));
  });
  const broken = checked.filter(({ policy, problems }) => problems.length > 0 && isEnforced(policy));
  return {
    valid,
    problems: new Map(broken.map(({ policy, problems }) => [policy.metadata.name, problems])),
    groupings: uniqueGroupings(valid),
  };
}

function isEnforced({ spec }: DefenderPolicy): boolean {
  return spec.mode !== 'Audit';
}

/** A kill switch holds in every mode; nothing else of a policy in mode Audit denies. */
function onlyKillSwitch({ spec, ...policy }: DefenderPolicy): DefenderPolicy {
  const none = { concurrency: [], rates: [], breakers: [], quiet: [], freezes: [], approval: [] };
  return { ...policy, spec: { ...spec, ...none } };
}

function prepare(policy: DefenderPolicy): PreparedPolicy {
  const { spec } = policy;
  const { include } = spec.counting;
  const by = (per: GroupedPer): Grouping => createGrouping(spec.scope.nodeSelector, per);
  return {
    name: policy.metadata.name,
    spec,
    enforced: isEnforced(policy),
    limits: spec.concurrency.map((limit) => prepareLimit(limit, spec)),
    countedStates: include.reduce((mask, state) => mask | (STATES[state] ?? 0), 0),
    countsInFlight: include.includes('InFlight'),
    countsDeleted: include.includes('DeletedNotReplaced'),
    zones: by('Zone'),
    pools: by('Pool'),
    cluster: by('Cluster'),
    quietState: createQuietStates(),
  };
}

const STATES: Readonly<Record<string, number>> = STATE_BITS;

function prepareLimit(limit: ConcurrencyLimit, { scope }: DefenderPolicySpec): PreparedLimit {
  if (limit.per === 'Holder') return { limit };
  return { limit, grouping: createGrouping(scope.nodeSelector, limit.per, limit.labelKey) };
}

export function breakerGrouping(policy: PreparedPolicy, { per }: Pick<Breaker, 'per'>): Grouping {
  if (per === 'Zone') return policy.zones;
  return per === 'Pool' ? policy.pools : policy.cluster;
}

export function dimensionGrouping({ spec }: Pick<PreparedPolicy, 'spec'>, dimension: string): Grouping {
  return createGrouping(spec.scope.nodeSelector, 'Dimension', dimension);
}

function uniqueGroupings(policies: readonly PreparedPolicy[]): readonly Grouping[] {
  const all = policies.flatMap((policy) => [
    ...policy.limits.flatMap(({ grouping }) => grouping ?? []),
    policy.zones,
    policy.pools,
    policy.cluster,
    ...policy.spec.breakers
      .filter(({ type }) => type === 'CommonCause')
      .flatMap(({ dimensions = [] }) => dimensions)
      .map((dimension) => dimensionGrouping(policy, dimension)),
  ]);
  return [...new Map(all.map((grouping) => [grouping.id, grouping])).values()];
}
