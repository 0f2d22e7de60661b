/**
 * Takes a snapshot in two steps, with another program between them that opens the copy: for pods, in which etcd is a container of its own. The
 * snapshot before stays in its place until the second step has succeeded.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readTrusted } from '../../../../local/pki/authority.ts';
import { parsePair } from '../../../../local/pki/inspect.ts';
import { ETCD_HEALTH_PATH } from '../../../../local/processes/commands.ts';
import { isEndpointReady, type ProbeEndpoint } from '../../../../local/processes/probe.ts';
import type { Clock } from '../../../../os/clock.ts';
import { readFileIfExists } from '../../../../os/files.ts';
import { pollUntil } from '../../../../os/poll.ts';
import {
  type CopyTools,
  copyData,
  copySnapshot,
  readSnapshot,
  replaceSnapshot,
  type SnapshotAbout,
  type SnapshotRecord,
  snapshotData,
  snapshotInvalid,
  verifyKeys,
  writeSnapshotRecord,
} from './snapshot.ts';

/** The snapshot that was verified, one that was not yet, and the copy of it that is opened. */
const [VERIFIED, NEXT] = ['upgrade', 'next'];
export const SNAPSHOT_COPY = 'check';
const OPEN_MS = 120_000;
const POLL_MS = 200;

export interface SnapshotPlace {
  /** The folder of snapshots. */
  readonly folder: string;
  /** The folder with `ca.crt` and the certificate `client.pem` of a client of etcd. */
  readonly pkiFolder: string;
  /** The URL of the etcd that is asked. */
  readonly url: string;
}

export interface CopyRequest extends SnapshotPlace {
  /** The data folder of the member at that URL. */
  readonly dataFolder: string;
  readonly about: SnapshotAbout;
}

/** Removes what an attempt has left that did not end. Nothing of it is a snapshot. */
export async function removeCopies(folder: string): Promise<void> {
  for (const name of [NEXT, SNAPSHOT_COPY]) await rm(join(folder, name), { recursive: true, force: true });
}

/** Copies the member, and the copy once more: an etcd that opens it changes it. */
export async function copyForCheck(request: CopyRequest, tools: CopyTools): Promise<SnapshotRecord> {
  const [next, copy] = [join(request.folder, NEXT), join(request.folder, SNAPSHOT_COPY)];
  try {
    await rm(copy, { recursive: true, force: true });
    const origin = { ...request, endpoint: await endpointOf(request) };
    const taken = await copySnapshot(origin, next, tools);
    await copyData(snapshotData(next), copy, tools.signal);
    await writeSnapshotRecord(next, taken);
    return taken;
  } catch (error) {
    throw snapshotInvalid(request.folder, error);
  }
}

type AcceptTools = Pick<CopyTools, 'clock' | 'signal'>;

/** Rejects unless the etcd that was started from the copy has the keys that were there. The copy becomes the snapshot of that name. */
export async function acceptSnapshot(
  place: SnapshotPlace,
  tools: AcceptTools,
  name = VERIFIED,
): Promise<SnapshotRecord> {
  const { folder } = place;
  const next = join(folder, NEXT);
  try {
    const taken = await readSnapshot(next);
    if (!taken) throw new Error('no copy of etcd is complete');
    await verifyOpened(place, taken, tools);
    await replaceSnapshot(next, join(folder, name), taken);
    await rm(join(folder, SNAPSHOT_COPY), { recursive: true, force: true });
    return taken;
  } catch (error) {
    throw snapshotInvalid(folder, error);
  }
}

/** Resolves to the etcd that was started from a copy, when it answers. Rejects unless it has the keys that were there. */
export async function verifyOpened(
  place: Omit<SnapshotPlace, 'folder'>,
  taken: SnapshotRecord,
  { clock, signal }: AcceptTools,
): Promise<ProbeEndpoint> {
  const endpoint = await endpointOf(place);
  await waitForEtcd(endpoint, clock, signal);
  await verifyKeys(endpoint, taken);
  return endpoint;
}

async function waitForEtcd(
  endpoint: ProbeEndpoint,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  const health = { ...endpoint, url: `${endpoint.url}${ETCD_HEALTH_PATH}` };
  const deadlineMs = clock.monotonicMs() + OPEN_MS;
  const isOpen = await pollUntil(() => isEndpointReady(health), {
    clock,
    everyMs: POLL_MS,
    deadlineMs,
    signal,
  });
  if (!isOpen) throw new Error('etcd does not start from the copy');
}

async function endpointOf({ pkiFolder, url }: Omit<SnapshotPlace, 'folder'>): Promise<ProbeEndpoint> {
  const caPem = await readTrusted(pkiFolder);
  const client = parsePair(await readFileIfExists(join(pkiFolder, 'client.pem')));
  if (caPem === undefined || !client) throw new Error(`${pkiFolder} has no certificate of a client of etcd`);
  return { url, caPem, client };
}
