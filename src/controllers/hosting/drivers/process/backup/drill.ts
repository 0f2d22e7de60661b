/**
 * Restores the newest backup of a control plane into a throw-away one: an etcd and an API server with keys of their own, in a folder that is
 * removed afterwards. Nothing but these two programs reads it: no controller acts on what it has.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createLayout, type Layout } from '../../../../../local/layout.ts';
import { ensureAccess } from '../../../../../local/pki/access.ts';
import { readAuthority } from '../../../../../local/pki/authority.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import { FORGET_OTHERS } from '../../../../../local/processes/commands.ts';
import { type ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import { createProcessSpecs, type ProcessSpec, serverUrl } from '../../../../../local/processes/specs.ts';
import type { FleetState } from '../../../../../local/state.ts';
import { messageOf, OsError } from '../../../../../os/errors.ts';
import { checkFreeSpace, ensurePrivateFolder, readFileIfExists } from '../../../../../os/files.ts';
import { tryAcquireLock } from '../../../../../os/lock.ts';
import { findFreePort } from '../../../../../os/net/ports.ts';
import { HostingError } from '../../../errors.ts';
import type { UpkeepControl } from '../../driver.ts';
import { listBackups, type StoredBackup } from '../../etcd/backup/store.ts';
import type { DrillCheck } from '../../etcd/drill/check.ts';
import { ALIVE, checkData } from '../../etcd/drill/check-data.ts';
import { copyData, snapshotData, verifyKeys } from '../../etcd/snapshot.ts';
import { withThrowAway } from '../etcd/throw-away.ts';
import { type ControlledTools, etcdPrograms, type OpenPlane, requireKept } from '../plane.ts';
import { notPrepared } from '../preparation/refusals.ts';
import { type SnapshotTools } from '../snapshot.ts';
import { DRILL_FILE, recordAttempt } from './attempt.ts';
import { drillState } from './drill-state.ts';

export interface DrillPlace {
  /** The folder of all control planes: one drill at a time is made in it. */
  readonly dir: string;
  /** The folder with the backups of this Cluster. */
  readonly folder: string;
  readonly availableBytes?: (() => Promise<number>) | undefined;
}

/** An idle etcd and an idle API server have 410 MB, and twice the database on top. The hub must not end for a drill. */
const MIN_MEMORY = 800e6;
const SPARE_BYTES = 400e6;

export async function drillBackup(
  plane: OpenPlane,
  place: DrillPlace,
  tools: ControlledTools,
): Promise<void> {
  requireKept(plane);
  const backup = (await listBackups(place.folder)).at(-1);
  if (!backup) return;
  const lock = await tryAcquireLock(`${place.dir} drill`);
  if (!lock) throw postponed(place.dir, 'another drill is being made');
  try {
    // A drill in which hosting was killed has left it.
    await rm(drillFolder(plane), { recursive: true, force: true });
    await requireMemory(backup, place);
    tools.control.signal.throwIfAborted();
    const path = join(plane.layout.root, DRILL_FILE);
    const { clock, control } = tools;
    await recordAttempt(path, clock.now(), () => drill(plane, { ...place, backup }, tools), control.signal);
  } finally {
    await lock.release();
  }
}

async function requireMemory(
  { record: { bytes = 0 } }: StoredBackup,
  { dir, availableBytes = availableMemory }: DrillPlace,
): Promise<void> {
  const [free, needed] = [await availableBytes(), MIN_MEMORY + 2 * bytes];
  if (free >= needed) return;
  const [has, needs] = [free, needed].map((size) => `${Math.floor(size / 1e6)} MB`);
  throw postponed(dir, `this machine has ${has} of memory left, ${needs} are needed`);
}

/** Returns 0 where the kernel does not report it, so that the drill is postponed. */
async function availableMemory(): Promise<number> {
  const text = (await readFileIfExists('/proc/meminfo')) ?? '';
  return Number(/^MemAvailable:\s+(?<kilobytes>\d+) kB/m.exec(text)?.groups?.['kilobytes'] ?? 0) * 1024;
}

function postponed(where: string, why: string): HostingError {
  const hint = 'nothing to do: the drill is made later';
  return new HostingError('DrillPostponed', `the drill is postponed: ${why}`, { where, hint });
}

function drillFolder({ layout }: OpenPlane): string {
  return join(layout.root, 'drill');
}

type Drill = DrillPlace & { readonly backup: StoredBackup };

async function drill(
  plane: OpenPlane,
  { folder, backup }: Drill,
  tools: ControlledTools,
): Promise<DrillCheck> {
  const { control } = tools;
  const programs = etcdPrograms(plane, tools);
  const layout = createLayout(drillFolder(plane));
  await ensurePrivateFolder(layout.root);
  try {
    await checkFreeSpace(layout.root, (backup.record.bytes ?? 0) + SPARE_BYTES, tools.freeBytes);
    control.onStep('Copying');
    await copyData(snapshotData(join(folder, backup.name)), layout.etcd.dataFolder, control.signal);
    return await serve(await throwAwayState(plane), { layout, backup, programs, control });
  } catch (error) {
    if (error instanceof OsError) throw error;
    throw new HostingError('DrillFailed', `${backup.name} was not restored: ${messageOf(error)}`, {
      where: join(folder, backup.name),
      hint: 'look at the backup and at the disk; the next backup is tried in the next drill',
      cause: error,
    });
  } finally {
    await rm(layout.root, { recursive: true, force: true });
  }
}

async function throwAwayState(plane: OpenPlane): Promise<FleetState> {
  const [cluster] = plane.state?.clusters ?? [];
  if (!cluster || !plane.settled) throw notPrepared(plane, 'etcd');
  const [etcdPort, port] = [await findFreePort(), await findFreePort()];
  return drillState(cluster, plane.settled.settings, { etcdPort, port });
}

interface Served {
  readonly layout: Layout;
  readonly backup: StoredBackup;
  readonly programs: SnapshotTools;
  readonly control: UpkeepControl;
}

async function serve(
  state: FleetState,
  { layout, backup, programs, control: { signal, onStep } }: Served,
): Promise<DrillCheck> {
  const { path, clock } = programs;
  await mkdir(layout.logs, { recursive: true, mode: 0o700 });
  await ensureAccess(state, layout, clock.now());
  const [etcd, apiServer] = createProcessSpecs(state, layout, path);
  const [cluster] = state.clusters;
  if (!etcd || !apiServer || !cluster) throw new Error('its programs are not known');
  const etcdClient = await endpointOf(layout.etcd.pkiFolder, 'client.pem', etcd);
  const apiClient = await endpointOf(layout.cluster(cluster.name).pkiFolder, 'admin.pem', apiServer);
  const failure = 'etcd does not start';
  // The backup may be one of several members.
  const command = { ...etcd.command, args: [...etcd.command.args, FORGET_OTHERS] };
  onStep('Opening');
  return await withThrowAway({ command, ready: etcdClient, clock, failure, signal }, async () => {
    const url = new URL(etcdClient.url).origin;
    const opened = { ...etcdClient, url };
    await verifyKeys(opened, backup.record);
    onStep('Serving');
    const api = { ...apiClient, url: serverUrl(cluster), signal };
    const ready = { ...apiClient, url: `${api.url}${ALIVE}` };
    const server = { command: apiServer.command, ready, clock, signal };
    return await withThrowAway({ ...server, failure: 'the API server does not start' }, () =>
      checkData({ ...backup, etcd: opened, api, clock }),
    );
  });
}

async function endpointOf(
  pkiFolder: string,
  file: string,
  { readyUrl: url }: ProcessSpec,
): Promise<ProbeEndpoint> {
  const authority = await readAuthority(pkiFolder);
  const client = parsePair(await readFile(join(pkiFolder, file), 'utf8'));
  if (!authority || !client) throw new Error(`${file} could not be made`);
  return { url, caPem: authority.certPem, client };
}
