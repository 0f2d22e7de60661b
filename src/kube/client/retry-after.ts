/** How long a server asks its clients to wait, in the header Retry-After or in a Status. Pure. */

/**
 * The longest wait that is obeyed. API servers ask for a few seconds. A proxy or a webhook may ask for hours, and a client that
 * obeys stays away long after the server has recovered.
 */
export const MAX_RETRY_AFTER_SECONDS = 60;

/** In seconds. API servers do not use the other form, a date. */
export function parseRetryAfter(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? capRetryAfter(Number(text)) : undefined;
}

export function capRetryAfter(seconds: number): number {
  return Math.min(seconds, MAX_RETRY_AFTER_SECONDS);
}
