/**
 * Keeps the series of a metric within a limit, whatever text its labels get: names of rules and components are written by people,
 * and Prometheus keeps each label set for hours after its last sample.
 */

/** A closed list of values; or what they are, and how many of them there are at most. */
export type LabelValues = readonly string[] | { readonly of: string; readonly most: number };

type Labels = Readonly<Record<string, string>>;

export interface LabelLimits {
  readonly labels?: Readonly<Record<string, LabelValues>>;
  /** Fewer than the product of the values of the labels. */
  readonly maxSeries?: number;
}

/** The value of labels that are not kept apart. */
export const OTHER = 'other';
// Enough for 30 verbs × codes or 50 kinds × 10 reasons, but not for a label with node names by mistake.
const MAX_SERIES = 500;
/** The longest name in Kubernetes. */
const MAX_LENGTH = 253;

/** Returns how many label sets are kept apart. */
export function seriesLimit({ labels = {}, maxSeries = MAX_SERIES }: LabelLimits): number {
  return Math.min(
    maxSeries,
    Object.values(labels).reduce((product, values) => product * countOf(values), 1),
  );
}

/** Returns how many series there are at most, with those beyond the limit, which differ only by values of closed lists. */
export function maximumSeries(limits: LabelLimits): number {
  const values = Object.values(limits.labels ?? {});
  const closed = values.flatMap((each) => (isClosed(each) ? each.length + 1 : []));
  if (closed.length === values.length) return closed.reduce((product, count) => product * count, 1);
  return seriesLimit(limits) + closed.reduce((product, count) => product * count, 1);
}

function countOf(values: LabelValues): number {
  return isClosed(values) ? values.length : values.most;
}

function isClosed(values: LabelValues): values is readonly string[] {
  return Array.isArray(values);
}

/** More than a few zeros tell nothing. */
const MAX_CLOSED = 20;

/** Returns the label sets of a metric whose labels all have closed lists. They begin at 0: the first event is a change then. */
export function closedLabelSets({ labels = {} }: LabelLimits): readonly Labels[] {
  const entries = Object.entries(labels);
  if (entries.length === 0) return [];
  let sets: readonly Labels[] = [{}];
  for (const [name, values] of entries) {
    if (!isClosed(values)) return [];
    sets = sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value })));
  }
  return sets.length > MAX_CLOSED ? [] : sets;
}

export interface LabelBounds {
  /** Returns the labels to use, with values that are not in their list as `other`; undefined beyond the limit. */
  keep(labels: Labels): Labels | undefined;
  /** Returns the labels to use; beyond the limit those of all that are counted together. */
  join(labels: Labels): Labels;
  /** Forgets a label set, so that another one has its place. */
  forget(labels: Labels): Labels;
}

export function createLabelBounds(limits: LabelLimits): LabelBounds {
  const entries = Object.entries(limits.labels ?? {});
  const most = seriesLimit(limits);
  const known = new Set<string>();
  return { keep, join: (labels) => keep(labels) ?? joined(labels), forget };

  function keep(labels: Labels): Labels | undefined {
    if (entries.length === 0) return {};
    const cleaned = clean(labels);
    const key = JSON.stringify(Object.values(cleaned));
    if (known.has(key)) return cleaned;
    if (known.size >= most) return undefined;
    known.add(key);
    return cleaned;
  }

  function forget(labels: Labels): Labels {
    const cleaned = clean(labels);
    known.delete(JSON.stringify(Object.values(cleaned)));
    return cleaned;
  }

  function clean(labels: Labels): Labels {
    return Object.fromEntries(entries.map(([name, values]) => [name, valueOf(labels[name] ?? '', values)]));
  }

  function joined(labels: Labels): Labels {
    return Object.fromEntries(
      entries.map(([name, values]) => [name, isClosed(values) ? valueOf(labels[name] ?? '', values) : OTHER]),
    );
  }
}

function valueOf(value: string, values: LabelValues): string {
  if (isClosed(values)) return values.includes(value) ? value : OTHER;
  return value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH - 1)}…` : value;
}
