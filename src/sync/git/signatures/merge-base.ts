/** Finds the best common ancestor of two commits. Pure. */

type Parents = ReadonlyMap<string, readonly string[]>;

/** Returns undefined unless the commits have exactly one: the caller must then assume the worst. */
export function mergeBase(parents: Parents, one: string, other: string): string | undefined {
  const [first, second] = [ancestorsOf(parents, one), ancestorsOf(parents, other)];
  const common = new Set([...first].filter((commit) => second.has(commit)));
  const beaten = new Set([...common].flatMap((commit) => parents.get(commit) ?? []));
  const best = [...common].filter((commit) => !beaten.has(commit));
  return best.length === 1 ? best[0] : undefined;
}

/** Returns the commit itself and its ancestors as far as they were read. */
function ancestorsOf(parents: Parents, commit: string): ReadonlySet<string> {
  const found = new Set([commit]);
  // A set is iterated in the order of insertion, with what is added meanwhile.
  for (const each of found) {
    for (const parent of parents.get(each) ?? []) if (parents.has(parent)) found.add(parent);
  }
  return found;
}
