/** The folder of the driver `process`, and the desired processes of one control plane in it. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import { isLocalError } from '../../../../local/errors.ts';
import { createLayout, type Layout } from '../../../../local/layout.ts';
import { LOOPBACK } from '../../../../local/processes/commands.ts';
import { listPorts } from '../../../../local/processes/desired-state.ts';
import { type FleetState, type PlaneSettings, readState, writeState } from '../../../../local/state.ts';
import { systemCode } from '../../../../os/errors.ts';
import { toDiskError } from '../../../../os/files.ts';
import { withLock } from '../../../../os/lock.ts';
import { HostingError } from '../../errors.ts';
import type { PlaneOwner, PlaneSpec } from '../driver.ts';
import { newServers } from './api-servers/ports.ts';
import { type ClaimPlace, claimExposure } from './exposure/claim.ts';
import { claimPort, releaseClaims } from './preparation/port-claims.ts';
import { corruptRecord, PLANE_FILE, type PlaneRecord, readPlaneRecord, writePlaneRecord } from './records.ts';

export interface PlaneFolder {
  readonly layout: Layout;
  readonly record: PlaneRecord | undefined;
  readonly state: FleetState | undefined;
  readonly claim: 'None' | 'Own' | 'Other';
}

export function planeLayout(dir: string, cluster: string): Layout {
  return createLayout(join(dir, 'clusters', cluster));
}

export function portsFolder(dir: string): string {
  return join(dir, 'ports');
}

export interface PlaneLocks {
  /** Keeps others from the members and files of the control plane. */
  readonly locked: <T>(plane: PlaneOwner, work: () => Promise<T>) => Promise<T>;
  /** Keeps others from its backups: members are started and stopped meanwhile. */
  readonly upkeep: <T>(plane: PlaneOwner, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;
  /** Waits for both. */
  readonly alone: <T>(plane: PlaneOwner, work: () => Promise<T>) => Promise<T>;
}

export function createPlaneLocks(dir: string): PlaneLocks {
  const nameOf = ({ name }: PlaneOwner): string => planeLayout(dir, name).root;
  const locked: PlaneLocks['locked'] = (plane, work) => withLock(nameOf(plane), {}, work);
  const upkeepOf = (plane: PlaneOwner): string => `${nameOf(plane)} upkeep`;
  return {
    locked,
    upkeep: (plane, signal, work) => withLock(upkeepOf(plane), { signal }, work),
    alone: (plane, work) => withLock(upkeepOf(plane), {}, () => locked(plane, work)),
  };
}

export async function readPlane(dir: string, { name, uid }: PlaneOwner): Promise<PlaneFolder> {
  const layout = planeLayout(dir, name);
  const record = await readPlaneRecord(layout.root);
  if (!record) {
    return { layout, record, state: undefined, claim: (await isEmpty(layout.root)) ? 'None' : 'Other' };
  }
  const isOwn = record.uid === uid && record.cluster === name;
  return { layout, record, state: await readPlaneState(layout.stateFile), claim: isOwn ? 'Own' : 'Other' };
}

/** The hint of a local fleet would be wrong here. */
async function readPlaneState(path: string): Promise<FleetState | undefined> {
  try {
    return await readState(path);
  } catch (error) {
    throw isLocalError(error, 'CorruptState') ? corruptRecord(path, error) : error;
  }
}

/** A file whose writer was killed counts as none. A link is not followed: it may lead to the files of somebody else. */
async function isEmpty(folder: string): Promise<boolean> {
  try {
    if (!(await lstat(folder)).isDirectory()) return false;
    return (await readdir(folder)).every((name) => name.endsWith('.tmp'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return true;
    throw toDiskError(error, folder);
  }
}

/** Throws unless the folder is that of this Cluster. */
export function requireOwn({ claim, layout }: PlaneFolder): void {
  if (claim === 'Own') return;
  throw notOurs(layout.root);
}

export function notOurs(root: string): HostingError {
  return new HostingError('FolderNotOurs', `${root} belongs to another Cluster, or its owner is not known`, {
    where: root,
    hint: `look at ${join(root, PLANE_FILE)}; move the folder away, or choose another name for the Cluster`,
  });
}

/** Writes whose folder it is, then the desired processes with their ports. What is there stays. */
export async function ensurePlane(
  dir: string,
  plane: PlaneSpec,
): Promise<PlaneFolder & { state: FleetState }> {
  const found = await readPlane(dir, plane);
  if (found.claim === 'Other') throw notOurs(found.layout.root);
  const { root, stateFile } = found.layout;
  const record = found.record ?? newRecord(plane);
  if (!found.record) await writePlaneRecord(root, record);
  // Ports of an attempt that was interrupted.
  await releaseClaims(portsFolder(dir), plane.name, usedPorts(record, found.state));
  if (found.state && record.controllersPort !== undefined) return { ...found, state: found.state };
  const claim = (): Promise<number> => claimPort(portsFolder(dir), plane.name, root);
  const place = { folder: portsFolder(dir), cluster: plane.name, scratch: root };
  const state = found.state ?? (await newState(plane, claim, place));
  await writeState(stateFile, state);
  const complete = { ...record, controllersPort: await claim() };
  await writePlaneRecord(root, complete);
  return { layout: found.layout, claim: 'Own', record: complete, state };
}

/** Returns the ports that a control plane has, whether they are in use now or not. */
export function usedPorts(
  { controllersPort = 0 }: PlaneRecord,
  state: FleetState | undefined,
): readonly number[] {
  return [...(state ? listPorts(state) : []), controllersPort];
}

function newRecord({ name, uid, version }: PlaneSpec): PlaneRecord {
  return { format: 1, cluster: name, uid, version, isDestroying: false };
}

async function newState(
  { name, settings: plane, apiServers: count, outside }: PlaneSpec,
  claim: () => Promise<number>,
  place: ClaimPlace,
): Promise<FleetState> {
  // It may be the port of somebody else: nothing is made before that is known.
  const exposure = outside && (await claimExposure(outside, place));
  const cluster = {
    name,
    port: await claim(),
    controllerManagerPort: await claim(),
    schedulerPort: await claim(),
    bindAddress: LOOPBACK,
    names: [],
    controllers: true,
    plane,
    ...optional('apiServers', await newServers(count, claim)),
    ...optional('exposure', exposure),
  };
  const etcdPort = await claim();
  const etcdMembers = await newEtcdMembers(etcdPort, plane, claim);
  return { version: 1, etcdPort, ...optional('etcdMembers', etcdMembers), clusters: [cluster] };
}

async function newEtcdMembers(
  firstPort: number,
  { etcdReplicas }: PlaneSettings,
  claim: () => Promise<number>,
): Promise<FleetState['etcdMembers']> {
  if (etcdReplicas === undefined) return undefined;
  const members = [{ port: firstPort, peerPort: await claim() }];
  while (members.length < etcdReplicas) members.push({ port: await claim(), peerPort: await claim() });
  return members;
}
