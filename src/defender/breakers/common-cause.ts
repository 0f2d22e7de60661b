/**
 * Finds what machines that failed together have in common: a version or a place that is among them far more often than in the
 * fleet, and more often than by chance. Of values that go together, such as a kubelet and its component, the likeliest one is
 * named. Pure.
 */
import { logBinomialTail } from './binomial.ts';

/** Holds the faults in which a common cause is searched. Keys of values have the form `kernelVersion=6.9`. */
export interface FaultSample {
  /** Holds by condition the values of each machine whose fault began within the period. */
  readonly faults: ReadonlyMap<string, readonly ReadonlySet<string>[]>;
  /** Number of machines. */
  readonly fleet: number;
  /** How many machines have each value. The first of equally likely values is named. */
  readonly having: ReadonlyMap<string, number>;
}

export interface CauseLimits {
  /** Whether a value is one of what reports faults. Default: none is. */
  readonly isOfDetector?: (value: string) => boolean;
  readonly count: number;
  readonly percent: number;
  readonly lift: number;
}

export interface CommonCause {
  /** Key of the value. */
  readonly value: string;
  readonly condition: string;
  /** Machines whose fault began within the period. */
  readonly faulty: number;
  /** The number of faulty machines that have the value. */
  readonly sharing: number;
  /** The number of machines that have the value, and of all. */
  readonly having: number;
  readonly fleet: number;
  /** Share of the fleet that has the value. */
  readonly base: number;
  readonly logChance: number;
}

/** Chance of a false alarm, for all values of one review together. */
const FALSE_ALARM = 0.001;

/** Returns the common causes. `known` are values that explain their machines already; a further one is searched among the others. */
export function findCommonCauses(
  sample: FaultSample,
  limits: CauseLimits,
  known: readonly string[] = [],
): readonly CommonCause[] {
  const found = likeliest(unexplained(sample, known), limits);
  return found ? [found, ...findCommonCauses(sample, limits, [...known, found.value])] : [];
}

function unexplained({ faults, fleet, having }: FaultSample, known: readonly string[]): FaultSample {
  const others = [...faults].map(
    ([condition, machines]) =>
      [condition, machines.filter((values) => !known.some((value) => values.has(value)))] as const,
  );
  const explained = known.reduce((sum, value) => sum + (having.get(value) ?? 0), 0);
  return { faults: new Map(others), fleet: fleet - explained, having };
}

function likeliest(sample: FaultSample, limits: CauseLimits): CommonCause | undefined {
  const conditions = [...sample.faults].filter(([, machines]) => machines.length >= limits.count);
  const alarm = Math.log(FALSE_ALARM / (conditions.length * sample.having.size));
  let best: CommonCause | undefined;
  for (const [condition, machines] of conditions) {
    for (const cause of candidates(condition, machines, { sample, limits })) {
      if (cause.logChance < Math.min(alarm, best?.logChance ?? 0)) best = cause;
    }
  }
  return best;
}

interface Search {
  readonly sample: FaultSample;
  readonly limits: CauseLimits;
}

/** Returns the values that can be a cause, in the order of `having`. */
function candidates(
  condition: string,
  machines: readonly ReadonlySet<string>[],
  { sample: { having, fleet }, limits }: Search,
): readonly CommonCause[] {
  const shares = countValues(machines);
  const faulty = machines.length;
  return [...having].flatMap(([value, total]) => {
    const sharing = shares.get(value) ?? 0;
    // How many of the explained machines have this value was not counted: none, so that the base is rather too high.
    const base = Math.min(1, total / Math.max(fleet, 1));
    const share = { faulty, sharing, having: total, fleet, base };
    const isAbove = limits.isOfDetector?.(value) ? isAboveOthers : isAboveBase;
    if (!isAbove(share, limits)) return [];
    return [{ value, condition, ...share, logChance: logBinomialTail(faulty, sharing, share.base) }];
  });
}

function countValues(machines: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const values of machines) {
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

type Share = Omit<CommonCause, 'value' | 'condition' | 'logChance'>;

/** A value that so many have that no share could be `lift` times as high is not a cause. */
function isAboveBase({ faulty, sharing, base }: Share, { percent, lift }: CauseLimits): boolean {
  if (sharing === 0 || base * lift >= 1) return false;
  return sharing * 100 >= percent * faulty && sharing >= lift * base * faulty;
}

/**
 * A new version of a detector reaches most machines in the end, so it is compared with the others only: the fault is `lift` times as
 * frequent. Where all machines have it, there is nothing to compare.
 */
function isAboveOthers({ faulty, sharing, having, fleet }: Share, { percent, lift }: CauseLimits): boolean {
  const others = fleet - having;
  if (sharing === 0 || others <= 0 || sharing * 100 < percent * faulty) return false;
  return sharing * others >= lift * (faulty - sharing) * having;
}
