/** Reads how a hub and its clusters are, with whether a process syncs them. */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { HubObjects } from '../../views/status/hub-objects.ts';
import { type HubStatus, summarizeHub } from '../../views/status/hub-status.ts';
import type { ConnectionFlags } from '../connection.ts';
import type { Io } from '../io.ts';
import { printWarnings } from '../output.ts';
import { findUnsynced } from './sync-leases.ts';

/** With whether a process syncs: for every command whose exit code depends on it. */
export async function readHubStatus(
  io: Io,
  client: Client,
  hub: HubObjects,
  flags: ConnectionFlags,
): Promise<HubStatus> {
  const unsynced = await readUnsynced(io, client, hub, flags);
  return summarizeHub(hub, { now: io.clock.now(), unsynced });
}

async function readUnsynced(
  io: Io,
  client: Client,
  { pipelines }: HubObjects,
  flags: ConnectionFlags,
): Promise<readonly string[]> {
  const { signal, clock } = io;
  try {
    return await findUnsynced(client, pipelines, { now: clock.now(), flags, signal });
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    printWarnings(io, [`whether a process syncs is unknown: ${error.message}`]);
    return [];
  }
}
