const MAX_NAMES = 8;

/** Lists names as `a, b and c`; of many the first ones. */
export function listNames(names: readonly string[]): string {
  if (names.length > MAX_NAMES) {
    return `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`;
  }
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');
}
