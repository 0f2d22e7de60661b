/** Formats how long ago a moment was, as kubectl does: 42s, 7m, 3h, 12d. */
export function formatAge(since: string | undefined, now: Date): string {
  const from = since === undefined ? Number.NaN : Date.parse(since);
  if (Number.isNaN(from)) return '-';
  const seconds = Math.max(0, Math.floor((now.getTime() - from) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Twelve digits, as in the name of a Release; "-" without a commit. */
export function shortCommit(commit: string | undefined): string {
  return commit?.slice(0, 12) || '-';
}
