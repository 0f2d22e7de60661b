/**
 * Decides whether an instance is read again. A cloud counts the requests of an account, and a machine is reconciled at each heartbeat: while its
 * agent is alive, its instance runs. Pure.
 */
import type { Machine } from '../../../api/generated/types.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import type { Instance } from '../../../providers/contract.ts';

/** The last read of this process. Another process reads once more. */
export interface LastRead {
  readonly instance: Instance;
  readonly generation: number | undefined;
  readonly at: Date;
}

/** One request a machine and hour: with the polls of events and the sweeps of orphans it is less than two. */
const IDLE_MS = 60 * 60_000;

/** Returns the instance as it was read, where another read would show nothing new. */
export function unchangedInstance(
  { metadata, status }: Machine,
  lastRead: LastRead | undefined,
  now: Date,
): Instance | undefined {
  if (!lastRead || !status || conditionStatus(status.conditions, 'AgentReady') !== 'True') return undefined;
  const { instance, generation } = lastRead;
  if (status.infra?.providerID !== instance.id || generation !== metadata.generation) return undefined;
  return isFresh(lastRead, now) ? instance : undefined;
}

function isFresh({ instance, at }: LastRead, now: Date): boolean {
  const ageMs = now.getTime() - at.getTime();
  return instance.state === 'Running' && ageMs >= 0 && ageMs < IDLE_MS;
}
