/** Decides which redirects of a download are followed. Pure. */

/** Returns undefined if it is refused: only http and https are followed, and https stays https, so that the file cannot be changed on the way. */
export function redirectTarget(from: string, location: string): string | undefined {
  const to = URL.parse(location, from);
  const isAllowed = to?.protocol === 'https:' || (to?.protocol === 'http:' && from.startsWith('http:'));
  return to && isAllowed ? to.href : undefined;
}
