/** Puts the machines of a batch, and those to compare them with, into the query of a check. Pure. */

/** The machines of a component set that a query may name. A Node has the name of its Machine. */
export interface ComparedMachines {
  /** The machines of the open batch that run the version. */
  readonly batch: readonly string[];
  /** Machines that do not have the version yet, and serve. */
  readonly rest: readonly string[];
}

export type ExpandedQuery = { readonly query: string } | { readonly problem: string };

const BATCH = '${batch}';
const REST = '${rest}';

/**
 * The most characters of a query with names in it: about 1,000 machines. It is part of a URL; Prometheus accepts 1 MiB of headers, and a
 * proxy that accepts less answers 414, which is Unknown.
 */
export const MAX_QUERY_CHARS = 32_768;

/** Tells whether the query compares the batch with machines that are not updated yet. */
export function comparesWithRest(query: string): boolean {
  return query.includes(REST);
}

/** Replaces `${batch}` and `${rest}` by regular expressions of RE2. Without machines (for a stage) a query may have neither. */
export function expandQuery(query: string, machines: ComparedMachines | undefined): ExpandedQuery {
  const parts = [
    [BATCH, machines?.batch],
    [REST, machines?.rest],
  ] as const;
  const used = parts.filter(([placeholder]) => query.includes(placeholder));
  for (const [placeholder, names] of used) {
    const problem = namesProblem(placeholder, names);
    if (problem !== undefined) return { problem };
  }
  const expanded = used.reduce(
    (text, [placeholder, names = []]) => text.replaceAll(placeholder, () => alternation(names)),
    query,
  );
  if (used.length === 0 || expanded.length <= MAX_QUERY_CHARS) return { query: expanded };
  return {
    problem: `with the names of the machines the query has ${expanded.length} characters, allowed: ${MAX_QUERY_CHARS}. Use smaller batches`,
  };
}

function namesProblem(placeholder: string, names: readonly string[] | undefined): string | undefined {
  if (!names) return `a query may name ${placeholder} in a check of a MachineComponentSet only`;
  // An empty expression matches all series without the label.
  if (names.length === 0) return EMPTY[placeholder];
  const odd = names.find((name) => !NAME.test(name));
  return odd === undefined ? undefined : `the name ${JSON.stringify(odd)} cannot be part of a query`;
}

const EMPTY: Readonly<Record<string, string>> = {
  [BATCH]: 'no machine of the batch runs the version',
  [REST]:
    'no machine that is not updated yet serves, so there is nothing to compare with. Use smaller batches',
};

/** Matches names of Kubernetes objects. Of their characters only the dot has a meaning in RE2. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

/** A class and not a backslash: within the quotes of PromQL a backslash has a meaning of its own. */
function alternation(names: readonly string[]): string {
  return `(?:${names.map((name) => name.replaceAll('.', '[.]')).join('|')})`;
}
