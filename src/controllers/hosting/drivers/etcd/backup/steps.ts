/**
 * Takes, keeps, opens and restores backups in steps, with an etcd between them that opens the copy: for pods, in which etcd is a container of its
 * own. What is not complete never looks like a backup, or like the data of an etcd.
 */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { optional } from '../../../../../kube/objects/optional.ts';
import { ensureClusterPki, readAuthority } from '../../../../../local/pki/authority.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import {
  checkFreeSpace,
  ensurePrivateFolder,
  freeBytesOf,
  readFileIfExists,
} from '../../../../../os/files.ts';
import type { DrillCheck } from '../drill/check.ts';
import { checkData, waitUntilAlive } from '../drill/check-data.ts';
import { changePeerUrl, readMemberList } from '../member-list.ts';
import {
  type CopyTools,
  copyData,
  copySnapshot,
  type SnapshotRecord,
  snapshotData,
  snapshotSpace,
} from '../snapshot.ts';
import {
  acceptSnapshot,
  type CopyRequest,
  copyForCheck,
  removeCopies,
  type SnapshotPlace,
  verifyOpened,
} from '../snapshot-steps.ts';
import { findBackup, IN_VOLUME, requireRestorable } from './find.ts';
import type { BackupList } from './list.ts';
import { isRestored, markRestored } from './restored.ts';
import { beyondKeep, inTheWay } from './retention.ts';
import { listBackups, nextBackupName, removeBackup, removeLeftovers } from './store.ts';
import type { RestoreTarget } from './usable.ts';

type StepTools = Pick<CopyTools, 'clock' | 'signal' | 'freeBytes'>;

/** The log and its copy, of a small cluster. */
const SPARE_BYTES = 200e6;
const MEMBER = 'member';

/** Copies the member, after older backups were removed that are in the way of it or of the next drill. The newest one stays. */
export async function copyForBackup(request: CopyRequest, tools: CopyTools): Promise<SnapshotRecord> {
  const { folder } = request;
  const { freeBytes = freeBytesOf } = tools;
  await removeLeftovers(folder);
  await removeCopies(folder);
  const [backups, free] = [await listBackups(folder), await freeBytes(folder)];
  const neededBytes = await snapshotSpace(request);
  const withDrill = Math.max(neededBytes, 2 * (backups.at(-1)?.record.bytes ?? 0) + SPARE_BYTES);
  const before = inTheWay(backups, { freeBytes: free, neededBytes: withDrill });
  const old = before.length > 0 ? before : inTheWay(backups, { freeBytes: free, neededBytes });
  for (const name of old) await removeBackup(folder, name);
  return await copyForCheck(request, tools);
}

/** Makes a backup of the copy that the etcd was started from, then removes the oldest ones. */
export async function keepBackup(place: SnapshotPlace, keep: number, tools: StepTools): Promise<BackupList> {
  const { folder } = place;
  await acceptSnapshot(place, tools, await nextBackupName(folder, tools.clock.now()));
  for (const old of beyondKeep(await listBackups(folder), keep)) await removeBackup(folder, old);
  const backups = await listBackups(folder);
  const { takenAt = '', request } = backups.at(-1)?.record ?? {};
  return { names: backups.map(({ name }) => name), takenAt, ...optional('request', request) };
}

export interface OpenRequest {
  /** The folder of backups. */
  readonly folder: string;
  /** The name of a backup, or `latest`. */
  readonly from: string;
  readonly target: RestoreTarget;
  /** The folder for the copy, which an etcd opens. */
  readonly into: string;
  /** The data folder that the backup is for. Undefined: it is only tested. */
  readonly dataFolder?: string | undefined;
  /** The folder for the keys of an API server that serves the copy. */
  readonly serverPki?: string | undefined;
}

/**
 * Copies a backup for an etcd that opens it. Rejects one that this control plane cannot start from. Where its data are in their place already the
 * folder stays empty, and that etcd is of no use.
 */
export async function copyBackup(
  { folder, from, target, into, dataFolder, serverPki }: OpenRequest,
  { clock, signal, freeBytes }: StepTools,
): Promise<string> {
  const backup = await findBackup({ folder, from }, target.cluster, IN_VOLUME);
  const isPlaced = dataFolder !== undefined && (await isRestored(dataFolder, backup.name));
  const isTest = dataFolder === undefined;
  if (isTest) await removeCopies(folder);
  for (const left of [into, `${into}.next`]) await rm(left, { recursive: true, force: true });
  await mkdir(into, { recursive: true, mode: 0o700 });
  if (isPlaced) return backup.name;
  await requireRestorable(backup, folder, target, IN_VOLUME);
  // The data that etcd is to start from are copied once more.
  const copies = isTest ? 1 : 2;
  await checkFreeSpace(into, copies * (backup.record.bytes ?? 0) + SPARE_BYTES, freeBytes);
  await copyData(snapshotData(join(folder, backup.name)), into, signal);
  if (serverPki !== undefined) {
    await ensureClusterPki({ folder: serverPki, name: target.cluster, now: clock.now() });
  }
  return backup.name;
}

export interface OpenedBackup extends SnapshotPlace {
  readonly from: string;
  readonly cluster: string;
  /** The folder with the copy that the etcd at that URL was started from. */
  readonly into: string;
}

export interface ServedBackup extends OpenedBackup {
  /** The API server that serves the copy, with the folder of its keys. */
  readonly server: { readonly url: string; readonly pkiFolder: string };
}

/**
 * Rejects unless the etcd that was started from the copy has the keys of the backup, and an API server on it reads every object. The copy is
 * removed.
 */
export async function checkBackup(served: ServedBackup, tools: StepTools): Promise<DrillCheck> {
  const { name, record } = await findBackup(served, served.cluster, IN_VOLUME);
  const etcd = await verifyOpened(served, record, tools);
  const { clock, signal } = tools;
  const api = { ...(await apiOf(served)), signal };
  await waitUntilAlive(api, clock);
  const check = await checkData({ name, record, etcd, api, clock });
  await rm(served.into, { recursive: true, force: true });
  return check;
}

async function apiOf({ server: { url, pkiFolder } }: ServedBackup): Promise<ProbeEndpoint> {
  const authority = await readAuthority(pkiFolder);
  const client = parsePair(await readFileIfExists(join(pkiFolder, 'admin.pem')));
  if (!authority || !client) throw new Error(`${pkiFolder} has no keys of an API server`);
  return { url, caPem: authority.certPem, client };
}

export interface RestoreRequest extends OpenedBackup {
  /** Called when the data are in their place, before anything is removed. */
  readonly onPlaced: (name: string) => Promise<void>;
  /** The data folder of the first member. */
  readonly dataFolder: string;
  /** The URL at which other members find it. */
  readonly peerUrl: string;
  readonly etcdVersion: string;
}

/**
 * Puts the data of the etcd that was started from the copy in the place of the first member. It has forgotten the other members, and is called by
 * its new address, before its data are copied as those of any etcd that serves; they appear by a rename, or not at all. That fails where etcd has
 * data meanwhile.
 */
export async function placeBackup(request: RestoreRequest, tools: StepTools): Promise<string> {
  const { dataFolder, into, onPlaced } = request;
  const { name, record } = await findBackup(request, request.cluster, IN_VOLUME);
  const next = `${into}.next`;
  if (!(await isRestored(dataFolder, name))) {
    await copyAsMember(request, { record, next }, tools);
    await markRestored(snapshotData(next), name);
    await ensurePrivateFolder(dataFolder);
    await rename(join(snapshotData(next), MEMBER), join(dataFolder, MEMBER));
  }
  await onPlaced(name);
  for (const folder of [next, into]) await rm(folder, { recursive: true, force: true });
  return name;
}

async function copyAsMember(
  request: RestoreRequest,
  { record, next }: { readonly record: SnapshotRecord; readonly next: string },
  tools: StepTools,
): Promise<void> {
  const { into, peerUrl, etcdVersion } = request;
  const endpoint = await verifyOpened(request, record, tools);
  for (const { ID } of await readMemberList(endpoint)) await changePeerUrl(endpoint, ID, peerUrl);
  await copySnapshot({ endpoint, dataFolder: into }, next, { ...tools, etcdVersion });
}
