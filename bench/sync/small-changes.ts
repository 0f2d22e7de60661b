/** How soon sync answers a manual change of one object, and a commit that changes one. */
import { CONFIG_MAPS } from '../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { type Call, isObjectWrite } from './audit.ts';
import type { Bed } from './bed.ts';
import { UNIT_NAMESPACE } from './fleet.ts';
import { eventually, quiet } from './wait.ts';

const clock = createSystemClock();

/** Seconds from each manual change to the write that corrects it. */
export async function correctDrifts(bed: Bed, objects: number, times: number): Promise<readonly number[]> {
  return inTurn(times, async (index) => {
    const name = `bench-${(index * 37) % objects}`;
    const { length: before } = await bed.audit.calls();
    const live = await bed.server.client.get(CONFIG_MAPS, { namespace: UNIT_NAMESPACE, name });
    await bed.server.client.replace(CONFIG_MAPS, { ...live, data: { value: 'drift' } });
    return secondsUntilWrite(bed, name, before, clock.now().getTime());
  });
}

export interface Pushes {
  readonly objects: number;
  readonly times: number;
  /** Other pushes had another one: what is not changed is not written. */
  readonly value?: string;
  /** Called after each push, as a git host does. */
  readonly announce?: () => Promise<void>;
}

/** Seconds from each push of one changed object to its write. */
export async function pushChanges(
  bed: Bed,
  { objects, times, value = '1', announce }: Pushes,
): Promise<readonly number[]> {
  const changes = new Map<number, string>();
  return inTurn(times, async (index) => {
    const { length: before } = await quiet(bed);
    changes.set(index, value);
    bed.push({ objects, value: '0', changes });
    const pushedMs = clock.now().getTime();
    await announce?.();
    return secondsUntilWrite(bed, `bench-${index}`, before, pushedMs);
  });
}

async function secondsUntilWrite(bed: Bed, name: string, skip: number, sinceMs: number): Promise<number> {
  const find = (calls: readonly Call[]): Call | undefined =>
    calls.slice(skip).find((call) => isObjectWrite(call, UNIT_NAMESPACE) && call.name === name);
  const calls = await eventually(bed, (all) => find(all) !== undefined, `${name} is written`);
  return ((find(calls)?.receivedMs ?? Number.NaN) - sinceMs) / 1000;
}

async function inTurn(times: number, work: (index: number) => Promise<number>): Promise<number[]> {
  const results: number[] = [];
  for (let index = 0; index < times; index += 1) results.push(await work(index));
  return results;
}
