/** Releases the ports that a control plane claimed and does not have: those of an act that was interrupted. */
import type { FleetState } from '../../../../../local/state.ts';
import type { PlaneOwner } from '../../driver.ts';
import { type PlaneLocks, portsFolder, readPlane, usedPorts } from '../folder.ts';
import type { PlaneRecord } from '../records.ts';
import { releaseClaims } from './port-claims.ts';

/** It is to run under the lock of the control plane, so that no port is being claimed. */
export async function releaseUnused(dir: string, record: PlaneRecord, state: FleetState): Promise<void> {
  await releaseClaims(portsFolder(dir), record.cluster, usedPorts(record, state));
}

/**
 * Returns what releases the ports of each control plane once: nothing repeats an act that was killed after its record. A preparation that is not
 * complete releases its own.
 */
export function createClaimSweep(
  dir: string,
  locked: PlaneLocks['locked'],
): (plane: PlaneOwner) => Promise<void> {
  const swept = new Set<string>();
  return async (plane) => {
    if (swept.has(plane.uid)) return;
    await locked(plane, async () => {
      const { claim, record, state } = await readPlane(dir, plane);
      if (claim !== 'Own' || record?.controllersPort === undefined || !state) return;
      await releaseUnused(dir, record, state);
    });
    swept.add(plane.uid);
  };
}
