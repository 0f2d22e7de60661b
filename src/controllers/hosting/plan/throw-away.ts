/** Decides when the time of a throw-away cluster is over. Pure. */
import type { HostingDecision, HostingInput } from './input.ts';
import { disruptive } from './members.ts';

/**
 * Deletes a throw-away cluster when its time is over, also one whose programs are missing, and one that was never ready. A deletion cannot be
 * taken back, so the kill switch holds it.
 */
export function planEndOfLife(input: HostingInput): HostingDecision | undefined {
  const because = expiryReason(input);
  return because === undefined ? undefined : disruptive(input, { type: 'DeleteCluster', because });
}

function expiryReason({ cluster, hosted, maxAgeSeconds, now }: HostingInput): string | undefined {
  const { ttlSecondsAfterReady: seconds } = hosted;
  if (seconds === undefined || cluster.spec.deletion.protection) return undefined;
  if (isOver(cluster.status?.hosted?.readyAt, seconds, now)) return `it has been ready for ${seconds} s`;
  if (!isOver(cluster.metadata.creationTimestamp, maxAgeSeconds, now)) return undefined;
  return `it was created ${maxAgeSeconds} s ago: this hosting keeps no throw-away cluster longer (--max-age)`;
}

function isOver(since: string | undefined, seconds: number, now: Date): boolean {
  return since !== undefined && +now >= Date.parse(since) + seconds * 1000;
}
