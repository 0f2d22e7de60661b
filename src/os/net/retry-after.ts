/** Reads how long a server of files asks its clients to wait. Pure. */

/** Returns milliseconds: the header has seconds, or a date. Undefined: the header is missing or neither. */
export function readRetryAfterMs(header: string | null | undefined, now: Date): number | undefined {
  if (header === null || header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
