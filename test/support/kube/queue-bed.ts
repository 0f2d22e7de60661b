/** A work queue on a virtual clock, by default without jitter and without a limit for retries. */
import type { Priority } from '../../../src/kube/queue/priorities.ts';
import { createWorkQueue, type WorkQueue } from '../../../src/kube/queue/queue.ts';
import { NOW, settle, type VirtualClock, virtualClock } from '../virtual-clock.ts';

export function createTestQueue(
  clock: VirtualClock,
  options: Partial<Parameters<typeof createWorkQueue>[0]> = {},
): WorkQueue {
  return createWorkQueue({ clock, random: () => 0, perSecond: 1e9, burst: 1e9, ...options });
}

/** Takes all waiting keys, without finishing them. */
export async function takeAll(queue: WorkQueue): Promise<string[]> {
  await settle();
  const result: string[] = [];
  while (queue.depth > 0) result.push(String(await queue.take()));
  return result;
}

/** A time of the wall clock. */
export function inMs(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

/** The order in which keys are taken. */
export async function orderOf(adds: readonly [string, Priority][]): Promise<string> {
  const queue = createTestQueue(virtualClock());
  for (const [key, priority] of adds) queue.add(key, priority);
  return (await takeAll(queue)).join(' ');
}
