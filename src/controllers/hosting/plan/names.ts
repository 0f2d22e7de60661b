/** Lists names in a message: the first 20, and how many there are. Pure. */
const MAX_NAMES = 20;

export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}
