/**
 * Takes snapshots of one member of an etcd while it serves, and verifies each by opening it. A snapshot is a data folder that this version
 * of etcd starts from: the database that etcd sends, between the older snapshots of its log and the log itself, which is read afterwards. So
 * etcd replays its log onto the database, as after a loss of power.
 */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { optional } from '../../../../kube/objects/optional.ts';
import type { ProgramPath } from '../../../../local/processes/commands.ts';
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
import type { UpkeepControl } from '../driver.ts';
import { copyFiles } from './etcd/copy-files.ts';
import { describeFiles } from './etcd/describe-files.ts';
import { type KeyState, readKeyState, readValueDigest, saveDatabase } from './etcd/json-gateway.ts';
import { openCopy } from './etcd/open-copy.ts';

export interface SnapshotSource {
  readonly endpoint: ProbeEndpoint;
  /** The data folder of the member that runs. */
  readonly dataFolder: string;
  readonly pkiFolder: string;
  readonly about?: SnapshotAbout;
}

/** Tells a restore which control plane it was. */
export type SnapshotAbout = Pick<SnapshotRecord, 'cluster' | 'kubernetesVersion' | 'request'>;

export interface SnapshotTools {
  /** The programs of the version that runs. */
  readonly path: ProgramPath;
  readonly clock: Clock;
  /** The version of etcd, which a restore needs. */
  readonly etcdVersion: string;
  readonly freeBytes?: FreeBytes;
  readonly control?: UpkeepControl;
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

const RECORD_FILE = 'snapshot.json';
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
  const text = await readFileIfExists(join(folder, RECORD_FILE));
  if (text === undefined) return undefined;
  try {
    return record.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Takes and verifies a snapshot. It replaces the one in the folder only when it is verified. Callers hold a lock that nothing else writes the folder with. */
export async function takeSnapshot(
  source: SnapshotSource,
  folder: string,
  tools: SnapshotTools,
): Promise<SnapshotRecord> {
  const temporary = `${folder}.tmp`;
  await rm(temporary, { recursive: true, force: true });
  await ensurePrivateFolder(temporary);
  try {
    await checkFreeSpace(temporary, await snapshotSpace(source), tools.freeBytes);
    tools.control?.onStep('Copying');
    const state = await copyMember(source, snapshotData(temporary), tools.control?.signal);
    const canary = await readCanary(source.endpoint, { ...source.about, ...state });
    const takenAt = tools.clock.now().toISOString();
    const files = await describeFiles(snapshotData(temporary));
    const versions = { ...source.about, etcdVersion: tools.etcdVersion };
    const taken = {
      format: 1,
      takenAt,
      ...versions,
      ...state,
      ...optional('canary', canary),
      ...files,
    } as const;
    tools.control?.onStep('Opening');
    await verifyData(snapshotData(temporary), taken, { ...source, ...tools });
    await writeFileAtomic(join(temporary, RECORD_FILE), `${JSON.stringify(taken)}\n`, PRIVATE_MODE);
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder);
    return taken;
  } catch (error) {
    throw invalid(folder, error);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Returns the free space that a snapshot needs while it is taken. */
export async function snapshotSpace({ dataFolder }: Pick<SnapshotSource, 'dataFolder'>): Promise<number> {
  const { size } = await stat(join(dataFolder, DATABASE));
  return 2 * size + SPARE_BYTES;
}

/** Rejects unless an etcd that starts from a copy of the snapshot has the keys that were there. */
export async function verifySnapshot(
  folder: string,
  parts: Pick<SnapshotSource, 'pkiFolder' | 'endpoint'> & SnapshotTools,
): Promise<SnapshotRecord> {
  const taken = await readSnapshot(folder);
  try {
    if (!taken) throw new Error(`${RECORD_FILE} is missing or not valid`);
    await verifyData(snapshotData(folder), taken, parts);
    return taken;
  } catch (error) {
    throw invalid(folder, error);
  }
}

/** Rejects unless an etcd that starts from a copy of the data, beside it, has the keys of that state. */
async function verifyData(
  data: string,
  taken: SnapshotRecord,
  parts: Pick<SnapshotSource, 'pkiFolder' | 'endpoint'> & SnapshotTools,
): Promise<void> {
  const copy = `${data}.check`;
  await rm(copy, { recursive: true, force: true });
  try {
    const signal = parts.control?.signal;
    await copyData(data, copy, signal);
    await openCopy(copy, { ...parts, signal }, (endpoint) => verifyKeys(endpoint, taken));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
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
  { endpoint, dataFolder }: SnapshotSource,
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

function invalid(folder: string, cause: unknown): unknown {
  if (cause instanceof OsError) return cause;
  return new HostingError('SnapshotInvalid', `no valid snapshot of etcd: ${messageOf(cause)}`, {
    where: folder,
    hint: 'look at the log of etcd and at the disk; nothing was changed, and hosting tries again',
    cause,
  });
}
