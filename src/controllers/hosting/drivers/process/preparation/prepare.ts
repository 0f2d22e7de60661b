/** Prepares the folder of a control plane: its record and ports, then keys and certificates. It can be interrupted at any point and repeated. */
import { mkdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { ensureAccess, type RotatingAuthorities } from '../../../../../local/pki/access.ts';
import { writeState } from '../../../../../local/state.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { checkFreeSpace, ensurePrivateFolder, type FreeBytes } from '../../../../../os/files.ts';
import type { PlaneSpec } from '../../driver.ts';
import { ensurePlane, notOurs, type PlaneFolder, planeLayout, readPlane } from '../folder.ts';
import { type PlaneRecord, writePlaneRecord } from '../records.ts';
import { deriveKeys } from '../rotation/authorities.ts';
import { readRotationInWork } from '../rotation/record.ts';
import { withPki } from './certificates.ts';
import { markData } from './data.ts';
import { areKeysRecorded, keyDigests, keyFiles, requireKeys } from './keys.ts';
import { closeEntries } from './rights.ts';

export interface PrepareOptions {
  readonly dir: string;
  readonly clock: Clock;
  readonly freeBytes?: FreeBytes;
}

/** An empty etcd takes 64 MB for each of two log files; the rest is for a small cluster and its logs. */
const MIN_FREE_BYTES = 200e6;

export async function preparePlane(plane: PlaneSpec, options: PrepareOptions): Promise<void> {
  const { dir, clock, freeBytes } = options;
  await ensurePrivateFolder(dir);
  const { root } = planeLayout(dir, plane.name);
  if ((await readPlane(dir, plane)).claim === 'Other') throw notOurs(root);
  await ensurePrivateFolder(root);
  await checkFreeSpace(root, MIN_FREE_BYTES, freeBytes);
  const found = await ensurePlane(dir, plane);
  const { layout, record } = found;
  if (record?.isDestroying === true) return;
  await requireKeys(found);
  const state = withPki(found.state, plane);
  if (!isDeepStrictEqual(state, found.state)) await writeState(layout.stateFile, state);
  await mkdir(layout.logs, { recursive: true, mode: 0o700 });
  await mkdir(layout.etcd.dataFolder, { recursive: true, mode: 0o700 });
  await ensureAccess(state, layout, clock.now(), await derivedTrust(found));
  await closeEntries(layout, plane.name);
  if (record) await recordKeys(found, record);
}

/** Writes the keys of the phase while others take over, and returns what is trusted beside them. */
async function derivedTrust({
  layout,
  record,
}: Pick<PlaneFolder, 'layout' | 'record'>): Promise<RotatingAuthorities> {
  const rotation = await readRotationInWork(layout.root);
  return record && rotation ? await deriveKeys(keyFiles(layout, record), rotation) : {};
}

/** Records what was made, once it is there: from then on what is missing is lost, and not made again. */
async function recordKeys({ layout }: PlaneFolder, record: PlaneRecord): Promise<void> {
  const isMarked = record.isDataMarked === true;
  if (isMarked && areKeysRecorded(record)) return;
  await markData(layout.etcd.dataFolder, { uid: record.uid, isMarked });
  const keys = await keyDigests(layout, record);
  await writePlaneRecord(layout.root, { ...record, isDataMarked: true, keys });
}
