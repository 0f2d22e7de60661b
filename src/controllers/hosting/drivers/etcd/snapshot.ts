/**
 * Copies one member of an etcd while it serves, and tells whether an etcd that starts from the copy has everything. A snapshot is a data folder
 * that this version of etcd starts from: the database that etcd sends, between the older snapshots of its log and the log itself, which is
 * read afterwards. So etcd replays its log onto the database, as after a loss of power.
 */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { optional } from '../../../../kube/objects/optional.ts';
import type { ProbeEndpoint } from '../../../../local/processes/probe.ts';
import type { Clock } from '../../../../os/clock.ts';
import { messageOf, OsError } from '../../../../os/errors.ts';
import {
  checkFreeSpace,
  ensurePrivateFolder,
  type FreeBytes,
  PRIVATE_MODE,
  readFileIfExists,
  writeFileAtomic,
} from '../../../../os/files.ts';
import { HostingError } from '../../errors.ts';
import { copyFiles } from './copy-files.ts';
import { describeFiles } from './describe-files.ts';
import { type KeyState, readKeyState, readValueDigest, saveDatabase } from './json-gateway.ts';

export interface SnapshotOrigin {
  readonly endpoint: ProbeEndpoint;
  /** The data folder of the member that runs. */
  readonly dataFolder: string;
  readonly about?: SnapshotAbout;
}

/** Tells a restore which control plane it was. */
export type SnapshotAbout = Pick<SnapshotRecord, 'cluster' | 'kubernetesVersion' | 'request'>;

export interface CopyTools {
  readonly clock: Clock;
  /** The version of etcd, which a restore needs. */
  readonly etcdVersion: string;
  readonly freeBytes?: FreeBytes;
  readonly signal?: AbortSignal | undefined;
}

const record = z.strictObject({
  format: z.literal(1),
  takenAt: z.iso.datetime(),
  etcdVersion: z.string(),
  revision: z.int(),
  keys: z.int(),
  /** The Cluster and its version are unknown of a snapshot of an earlier version of hosting. */
  cluster: z.string().optional(),
  kubernetesVersion: z.string().optional(),
  /** The digest of all files. */
  sha256: z.string().optional(),
  /** The space that it takes on the disk. */
  bytes: z.int().optional(),
  /** The digest of an object as etcd has it. */
  canary: z.string().optional(),
  /** The request of a person that it answers. */
  request: z.string().optional(),
});
export type SnapshotRecord = Readonly<z.infer<typeof record>>;

export const SNAPSHOT_RECORD = 'snapshot.json';
const DATA = 'data';
const DATABASE = join('member', 'snap', 'db');
/**
 * The log and its copy, of a small cluster. The database is there twice, too: in the snapshot, and in the copy that is opened. The etcd that
 * serves ends when the disk is full.
 */
const SPARE_BYTES = 200e6;

/** Returns the data folder in a snapshot, which a member can start from after it was copied. */
export function snapshotData(folder: string): string {
  return join(folder, DATA);
}

/** Returns the record of the snapshot. Undefined: no snapshot is complete. */
export async function readSnapshot(folder: string): Promise<SnapshotRecord | undefined> {
  const text = await readFileIfExists(join(folder, SNAPSHOT_RECORD));
  if (text === undefined) return undefined;
  try {
    return record.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export async function writeSnapshotRecord(folder: string, taken: SnapshotRecord): Promise<void> {
  await writeFileAtomic(join(folder, SNAPSHOT_RECORD), `${JSON.stringify(taken)}\n`, PRIVATE_MODE);
}

/** Copies the member into an empty folder. The copy counts only after it was opened. */
export async function copySnapshot(
  origin: SnapshotOrigin,
  folder: string,
  tools: CopyTools,
): Promise<SnapshotRecord> {
  await rm(folder, { recursive: true, force: true });
  await ensurePrivateFolder(folder);
  await checkFreeSpace(folder, await snapshotSpace(origin), tools.freeBytes);
  const state = await copyMember(origin, snapshotData(folder), tools.signal);
  const canary = await readCanary(origin.endpoint, { ...origin.about, ...state });
  return {
    format: 1,
    takenAt: tools.clock.now().toISOString(),
    ...origin.about,
    etcdVersion: tools.etcdVersion,
    ...state,
    ...optional('canary', canary),
    ...(await describeFiles(snapshotData(folder))),
  };
}

/** Puts a snapshot that was verified in the place of the one before. */
export async function replaceSnapshot(from: string, folder: string, taken: SnapshotRecord): Promise<void> {
  await writeSnapshotRecord(from, taken);
  await rm(folder, { recursive: true, force: true });
  await rename(from, folder);
}

/** Returns the free space that a snapshot needs while it is taken. */
export async function snapshotSpace({ dataFolder }: Pick<SnapshotOrigin, 'dataFolder'>): Promise<number> {
  const { size } = await stat(join(dataFolder, DATABASE));
  return 2 * size + SPARE_BYTES;
}

/** Rejects unless the etcd has as many keys as at the revision of the snapshot, and the object that was chosen then as it was. */
export async function verifyKeys(endpoint: ProbeEndpoint, taken: SnapshotRecord): Promise<void> {
  const { revision, keys, canary } = taken;
  const found = await readKeyState(endpoint, revision);
  if (found.keys !== keys) {
    throw new Error(`expected ${keys} keys at revision ${revision}, found ${found.keys}`);
  }
  if (canary !== undefined && (await readCanary(endpoint, taken)) !== canary) {
    throw new Error('the object kube-system is not the one that was there');
  }
}

/** Every API server makes the namespace kube-system at once. Undefined: it is not there yet. */
async function readCanary(
  endpoint: ProbeEndpoint,
  { cluster, revision }: Pick<SnapshotRecord, 'cluster' | 'revision'>,
): Promise<string | undefined> {
  return cluster === undefined
    ? undefined
    : await readValueDigest(endpoint, { key: `/${cluster}/namespaces/kube-system`, revision });
}

/** The order matters: a snapshot of the log that is newer than the database could not be used with it. */
async function copyMember(
  { endpoint, dataFolder }: SnapshotOrigin,
  to: string,
  signal: AbortSignal | undefined,
): Promise<KeyState> {
  const [from, into] = [join(dataFolder, 'member'), join(to, 'member')];
  await mkdir(join(into, 'snap'), { recursive: true, mode: 0o700 });
  await copyFiles(join(from, 'snap'), join(into, 'snap'), (name) => name.endsWith('.snap'), signal);
  const state = await readKeyState(endpoint);
  await saveDatabase(endpoint, join(to, DATABASE), signal);
  await copyFiles(join(from, 'wal'), join(into, 'wal'), (name) => name.endsWith('.wal'), signal);
  return state;
}

/** Copies the data of an etcd that is stopped. */
export async function copyData(from: string, to: string, signal?: AbortSignal): Promise<void> {
  for (const part of ['snap', 'wal']) {
    await copyFiles(join(from, 'member', part), join(to, 'member', part), () => true, signal);
  }
}

export function snapshotInvalid(folder: string, cause: unknown): unknown {
  if (cause instanceof OsError) return cause;
  return new HostingError('SnapshotInvalid', `no valid snapshot of etcd: ${messageOf(cause)}`, {
    where: folder,
    hint: 'look at the log of etcd and at the disk; nothing was changed, and hosting tries again',
    cause,
  });
}
