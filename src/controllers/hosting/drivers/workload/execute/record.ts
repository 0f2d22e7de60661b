/** Writes the record of a control plane, by compare-and-swap: of two controllers at once, the second decides again on what the first wrote. */

import { MANAGER_HOSTING } from '../../../../../api/names.ts';
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../../../kube/objects/core-kinds.ts';
import type { PlaneOwner } from '../../driver.ts';
import { planeNamespace, RECORD } from '../names.ts';
import type { WorkloadRecord } from '../record.ts';
import { parseWorkloadRecord, recordObject } from '../record-object.ts';

export const AS_HOSTING = { fieldManager: MANAGER_HOSTING } as const;
const ATTEMPTS = 5;

/** Returns the record as it is after the change. The same record again means that nothing is written. */
export async function changeRecord(
  client: Client,
  { name }: Pick<PlaneOwner, 'name'>,
  change: (record: WorkloadRecord) => WorkloadRecord,
): Promise<WorkloadRecord> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await client.get(CONFIG_MAPS, { name: RECORD, namespace: planeNamespace(name) });
    const before = parseWorkloadRecord(found);
    const after = change(before);
    if (after === before) return before;
    try {
      const { resourceVersion } = found.metadata;
      await client.replace(CONFIG_MAPS, recordObject(after, resourceVersion), AS_HOSTING);
      return after;
    } catch (error) {
      if (attempt === ATTEMPTS || !isKubeError(error, 'Conflict')) throw error;
    }
  }
}

/** Creates the record, or returns the one that is there. */
export async function ensureRecord(client: Client, fresh: WorkloadRecord): Promise<WorkloadRecord> {
  const name = { name: RECORD, namespace: planeNamespace(fresh.cluster) };
  const found = await unlessMissing(client.get(CONFIG_MAPS, name));
  if (found) return parseWorkloadRecord(found);
  try {
    await client.create(CONFIG_MAPS, recordObject(fresh), AS_HOSTING);
    return fresh;
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    return parseWorkloadRecord(await client.get(CONFIG_MAPS, name));
  }
}
