/** Lists the clusters that share something which is shown once. Pure. */

const MAX_TARGETS = 3;

/** Lists the names: `test, pre, prod`, or `test, pre and 7 more`. */
export function listTargets(targets: readonly string[]): string {
  const names = [...new Set(targets)];
  if (names.length <= MAX_TARGETS) return names.join(', ');
  const shown = names.slice(0, MAX_TARGETS - 1).join(', ');
  return `${shown} and ${names.length - MAX_TARGETS + 1} more`;
}
