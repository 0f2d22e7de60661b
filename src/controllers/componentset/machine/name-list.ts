/** Lists machines in a message. The input is sorted, so the same machines give the same list. Pure. */

/** Returns the first names, and how many more there are. */
export function nameList(machines: readonly { readonly name: string }[], max = MAX_NAMES): string {
  const names = machines.slice(0, max).map(({ name }) => name);
  const more = machines.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

const MAX_NAMES = 20;
