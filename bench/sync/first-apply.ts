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
  bed.push({ objects, value: '0', changes: new Map() });
  bed.startSync();
  await eventually(bed, (calls) => appliedNames(calls).size === objects, `${objects} objects are applied`);
  const writes = (await quiet(bed)).filter(isWrite);
  const startMs = Math.min(...writes.map(({ receivedMs }) => receivedMs));
  const endMs = Math.max(...writes.map(({ answeredMs }) => answeredMs));
  const { peakMiB, cpuSeconds } = await bed.usage();
  return {
    objectsPerSecond: (objects / (endMs - startMs)) * 1000,
    peakMiB,
    cpuMsPerObject: (cpuSeconds / objects) * 1000,
  };
}

function appliedNames(calls: readonly Call[]): ReadonlySet<string> {
  return new Set(calls.filter((call) => isObjectWrite(call, UNIT_NAMESPACE)).map(({ name }) => name));
}
