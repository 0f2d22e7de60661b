/** Commits of all objects that follow each other faster than they can be applied. */
import { CONFIG_MAPS } from '../../src/kube/objects/core-kinds.ts';
import { valueAt } from '../../src/kube/objects/json.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { isWrite } from './audit.ts';
import type { Bed } from './bed.ts';
import { UNIT_NAMESPACE } from './fleet.ts';
import { eventually, quiet } from './wait.ts';

export interface StormOptions {
  readonly objects: number;
  readonly commits: number;
  /** From one commit to the next. */
  readonly everyMs: number;
}

export interface Storm {
  readonly peakMiB: number;
  /** From the last push to the last write. */
  readonly seconds: number;
}

const clock = createSystemClock();

/** Ends when every object is as the last commit declares it. */
export async function commitStorm(bed: Bed, { objects, commits, everyMs }: StormOptions): Promise<Storm> {
  await quiet(bed);
  await bed.resetPeak();
  const startMs = clock.monotonicMs();
  for (let index = 0; index < commits; index += 1) {
    await clock.sleep(Math.max(0, startMs + index * everyMs - clock.monotonicMs()));
    bed.push({ objects, value: `storm-${index}`, changes: new Map() });
  }
  const pushedMs = clock.now().getTime();
  const last = `storm-${commits - 1}`;
  await eventually(
    bed,
    async () => {
      await quiet(bed);
      return (await countWithValue(bed, last)) === objects;
    },
    'every object is as the last commit declares it',
  );
  const endMs = (await bed.audit.calls()).findLast(isWrite)?.answeredMs ?? Number.NaN;
  const { peakMiB } = await bed.usage();
  return { peakMiB, seconds: (endMs - pushedMs) / 1000 };
}

async function countWithValue({ server }: Bed, value: string): Promise<number> {
  let count = 0;
  const labelSelector = 'app=bench';
  for await (const { items } of server.client.pages(CONFIG_MAPS, {
    namespace: UNIT_NAMESPACE,
    labelSelector,
  })) {
    count += items.filter((item) => valueAt(item, 'data', 'value') === value).length;
  }
  return count;
}
