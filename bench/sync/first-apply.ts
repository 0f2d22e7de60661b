/** A new fleet, from the start of the process until all its objects are applied. */
import { type Call, isObjectWrite, isWrite } from './audit.ts';
import type { Bed } from './bed.ts';
import { UNIT_NAMESPACE } from './fleet.ts';
import { eventually, quiet } from './wait.ts';

export interface FirstApply {
  /** From the first write, which is the inventory's, to the last one. */
  readonly objectsPerSecond: number;
  readonly peakMiB: number;
  /** Of the sync process, from its start: the part of the time that does not depend on the API server. */
  readonly cpuMsPerObject: number;
}

export async function firstApply(bed: Bed, objects: number): Promise<FirstApply> {
  const { length: before } = await quiet(bed);
  bed.push({ objects, value: '0', changes: new Map() });
  bed.startSync();
  await eventually(bed, createAppliedCheck(objects), `${objects} objects are applied`);
  const writes = (await quiet(bed)).slice(before).filter(isWrite);
  const startMs = Math.min(...writes.map(({ receivedMs }) => receivedMs));
  const endMs = Math.max(...writes.map(({ answeredMs }) => answeredMs));
  const { peakMiB, cpuSeconds } = await bed.usage();
  return {
    objectsPerSecond: (objects / (endMs - startMs)) * 1000,
    peakMiB,
    cpuMsPerObject: (cpuSeconds / objects) * 1000,
  };
}

/** Looks at each call once: the process that asks shares the machine with those that are measured. */
function createAppliedCheck(objects: number): (calls: readonly Call[]) => boolean {
  const names = new Set<string>();
  let checked = 0;
  return (calls) => {
    for (const call of calls.slice(checked)) if (isObjectWrite(call, UNIT_NAMESPACE)) names.add(call.name);
    checked = calls.length;
    return names.size === objects;
  };
}
