/**
 * Reviews the breakers by a common cause: there is one for each value of a dimension. It opens when machines with the value fail
 * together, and stays open while at least `count` of them are faulty since then. A machine with an act in flight is not Ready
 * because of the act. Pure.
 */

import { dimensionValues, valueKey } from '../../api/diagnosis/dimensions.ts';
import { DETECTOR_DIMENSIONS } from '../../api/enums.ts';
import type { Breaker, LedgerBreaker } from '../../api/generated/types.ts';
import { KUBELET_CONDITIONS } from '../../api/names.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import type { FleetFacts, MachineFacts } from '../facts/facts.ts';
import { CLUSTER_KEY } from '../facts/grouping.ts';
import { after } from '../guards/guard.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { isActedOn } from '../ledger/entries.ts';
import { dimensionGrouping, type PreparedPolicy } from '../policies/prepare.ts';
import { type CommonCause, type FaultSample, findCommonCauses } from './common-cause.ts';
import { breakerId } from './keys.ts';

export interface CauseReviewInput {
  readonly policy: PreparedPolicy;
  readonly breaker: Breaker;
  readonly facts: Pick<FleetFacts, 'group' | 'groupKeys' | 'faulty'>;
  /** Machines that are too young to be trusted. */
  readonly young: readonly MachineFacts[];
  readonly now: Date;
}

interface Faulty {
  readonly machine: MachineFacts;
  readonly values: ReadonlySet<string>;
}

/** The percentage that holds for a policy that sets none. */
const USUAL_PERCENT = 60;

/** Returns for each breaker in the ledger, and for each that has to open, why it is open; undefined when its cause is over. */
export function reviewCauses(
  { breakers, grants }: Pick<LedgerDraft, 'breakers' | 'grants'>,
  input: CauseReviewInput,
): ReadonlyMap<string, string | undefined> {
  const faulty = faultyMachines(input, grants);
  const stored = storedBreakers(breakers, input);
  const standing = [...stored].map(
    ([id, state]) => [id, standingCause(id, state, { faulty, input })] as const,
  );
  const found = causes(stored, faulty, input).map(
    (cause) => [idOf(cause.value, input), describe(cause, input)] as const,
  );
  return new Map([...standing, ...found]);
}

function idOf(value: string, { policy, breaker }: CauseReviewInput): string {
  return breakerId(policy.name, breaker.name, value);
}

function storedBreakers(
  breakers: LedgerDraft['breakers'],
  input: CauseReviewInput,
): ReadonlyMap<string, LedgerBreaker> {
  const start = idOf('', input);
  return new Map(Object.entries(breakers).filter(([id]) => id.startsWith(start)));
}

function faultyMachines(
  { policy, breaker, facts, young }: CauseReviewInput,
  grants: LedgerDraft['grants'],
): readonly Faulty[] {
  const left = new Set(young.map(({ name }) => name));
  const { dimensions = [] } = breaker;
  return [...facts.faulty()]
    .filter(({ name, labels }) => !left.has(name) && !isActedOn(grants, name) && isInScope(labels, policy))
    .map((machine) => ({
      machine,
      values: new Set(
        dimensions.flatMap((name) => dimensionValues(machine, name).map((value) => valueKey(name, value))),
      ),
    }));
}

function isInScope(labels: MachineFacts['labels'], { spec }: PreparedPolicy): boolean {
  return isSelected(spec.scope.nodeSelector, labels);
}

/** Returns why a stored breaker stays open. Faults that are older than the breaker have another cause. */
function standingCause(
  id: string,
  { state, since }: LedgerBreaker,
  { faulty, input }: { readonly faulty: readonly Faulty[]; readonly input: CauseReviewInput },
): string | undefined {
  if (state === 'HalfOpen') return undefined;
  const { count = 1, withinSeconds = 0 } = input.breaker;
  const from = after(since, -withinSeconds);
  const having = faulty.filter(({ machine: { faults = new Map<string, Date>() }, values }) =>
    [...faults].some(
      ([condition, began]) =>
        began >= from && [...causesOf(condition, values)].some((value) => idOf(value, input) === id),
    ),
  );
  return having.length < count ? undefined : `${having.length} machines are faulty`;
}

/** No version of our detector explains what the kubelet reports. */
function causesOf(condition: string, values: ReadonlySet<string>): ReadonlySet<string> {
  if (!KUBELET_CONDITIONS.includes(condition)) return values;
  return new Set([...values].filter((value) => !isOfDetector(value)));
}

function isOfDetector(value: string): boolean {
  return DETECTOR_DIMENSIONS.some((dimension) => value.startsWith(valueKey(dimension, '')));
}

function causes(
  stored: ReadonlyMap<string, LedgerBreaker>,
  faulty: readonly Faulty[],
  input: CauseReviewInput,
): readonly CommonCause[] {
  const { count = 1, percent = USUAL_PERCENT, lift } = input.breaker;
  const faults = recentFaults(faulty, input);
  // The fleet is counted only for what may be a cause.
  if (![...faults.values()].some((machines) => machines.length >= count)) return [];
  const sample = { faults, ...countFleet(input) };
  const known = [...sample.having.keys()].filter((value) => {
    const state = stored.get(idOf(value, input))?.state;
    return state !== undefined && state !== 'HalfOpen';
  });
  return findCommonCauses(sample, { count, percent, lift, isOfDetector }, known);
}

function recentFaults(
  faulty: readonly Faulty[],
  { breaker: { withinSeconds = 0 }, now }: CauseReviewInput,
): FaultSample['faults'] {
  const from = after(now, -withinSeconds);
  const recent = new Map<string, ReadonlySet<string>[]>();
  for (const { machine, values } of faulty) {
    for (const [condition, began] of machine.faults ?? []) {
      if (began < from) continue;
      const machines = recent.get(condition) ?? [];
      machines.push(causesOf(condition, values));
      recent.set(condition, machines);
    }
  }
  return recent;
}

function countFleet(input: CauseReviewInput): Pick<FaultSample, 'fleet' | 'having'> {
  const { policy, breaker, facts, young } = input;
  const selected = young.filter(({ labels }) => isInScope(labels, policy));
  const having = (breaker.dimensions ?? []).flatMap((name) => {
    const { id } = dimensionGrouping(policy, name);
    return facts.groupKeys(id).map((value): [string, number] => {
      const left = selected.filter((machine) => dimensionValues(machine, name).includes(value)).length;
      return [valueKey(name, value), facts.group(id, value).total - left];
    });
  });
  const { total } = facts.group(policy.cluster.id, CLUSTER_KEY);
  return { fleet: total - selected.length, having: new Map(having) };
}

function describe(cause: CommonCause, { breaker }: CauseReviewInput): string {
  const { value, condition, faulty, sharing, base } = cause;
  const fault = condition.slice(0, 32).replaceAll(/[^ -~]/g, '?');
  if (isOfDetector(value)) return describeDetector(fault, cause);
  const period = `within ${breaker.withinSeconds ?? 0} s`;
  const inFleet = Math.round(base * 1000) / 10;
  return `${sharing} of ${faulty} machines with fault ${fault} ${period} have it, and ${inFleet} % of the fleet`;
}

/** The machines that have other faults, or older ones, are among those that run it, too. */
function describeDetector(fault: string, { faulty, sharing, having, fleet }: CommonCause): string {
  const others = `${faulty - sharing} of ${fleet - having} others`;
  return `the detector reports ${fault} on ${sharing} of ${having} machines that run it, and on ${others}`;
}
