/** Tells how a taken host is reached now: a pool that lists it with another key, user or Secret is followed. */
import type { Clock } from '../../../os/clock.ts';
import type { HostClaim } from './claim.ts';
import { hostKeyText, type PoolContent, type PooledHost } from './host.ts';
import type { ClaimStore } from './store.ts';

export type CurrentHost = (claim: HostClaim, signal: AbortSignal) => Promise<PooledHost | undefined>;

/** Many Machines of one pool are observed one after the other. */
const KEEP_MS = 10_000;

export function createCurrentHost({ pool }: Pick<ClaimStore, 'pool'>, clock: Clock): CurrentHost {
  const pools = new Map<string, { readonly content: PoolContent; readonly untilMs: number }>();

  async function recentPool(name: string, signal: AbortSignal): Promise<PoolContent> {
    const known = pools.get(name);
    if (known && clock.monotonicMs() < known.untilMs) return known.content;
    const content = await pool(name, signal);
    pools.set(name, { content, untilMs: clock.monotonicMs() + KEEP_MS });
    return content;
  }

  /** A host that the pool does not list any more is reached as it was when it was taken. */
  return async ({ pool: name, host }, signal) => {
    if (!host || name === undefined) return host;
    const { hosts } = await recentPool(name, signal);
    const key = hostKeyText(host);
    return hosts.find((each) => hostKeyText(each) === key) ?? host;
  };
}
