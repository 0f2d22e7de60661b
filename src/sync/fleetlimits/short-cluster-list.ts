/** Names clusters in messages. Pure. */

const NAMED = 5;

/** Returns the first names, and how many more there are: `a, b and 3 more`. */
export function shortClusterList(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}
