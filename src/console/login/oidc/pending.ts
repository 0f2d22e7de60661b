/** Keeps the sign-ins that have begun at an issuer: each can be completed once, by the browser that began it, within ten minutes. */
import type { Clock } from '../../../os/clock.ts';
import type { SignInChecks } from './issuer.ts';

export const PENDING_SECONDS = 600;
/** The most at once: the oldest gives its place. Each takes some hundred bytes, and anyone may begin one. */
const MAX_PENDING = 5000;

export interface PendingSignIns {
  /** Returns the id for the cookie of the browser. */
  add(checks: SignInChecks): string;
  /** Returns the checks once. */
  take(id: string | undefined): SignInChecks | undefined;
}

export function createPendingSignIns(
  clock: Pick<Clock, 'monotonicMs'>,
  createId: () => string,
): PendingSignIns {
  const pending = new Map<string, { readonly checks: SignInChecks; readonly endsMs: number }>();
  return {
    add(checks) {
      const [oldest] = pending.keys();
      if (pending.size >= MAX_PENDING && oldest !== undefined) pending.delete(oldest);
      const id = createId();
      pending.set(id, { checks, endsMs: clock.monotonicMs() + PENDING_SECONDS * 1000 });
      return id;
    },
    take(id) {
      const found = id === undefined ? undefined : pending.get(id);
      if (id === undefined || !found) return undefined;
      pending.delete(id);
      return clock.monotonicMs() < found.endsMs ? found.checks : undefined;
    },
  };
}
