/**
 * The driver `process`: the members of a control plane are processes of this machine, in a folder of their own. They outlive the process
 * that started them. Nothing about running processes is stored: each is recognized by an argument that no other process has, and a signal
 * goes only to the pid that still has the same start time.
 */
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureAccess } from '../../../../local/pki/access.ts';
import { listProcesses, usesFolder } from '../../../../local/processes/observe.ts';
import type { Clock } from '../../../../os/clock.ts';
import { checkFreeSpace, ensurePrivateFolder, type FreeBytes } from '../../../../os/files.ts';
import { withLock } from '../../../../os/lock.ts';
import { isPortFree } from '../../../../os/net/ports.ts';
import { startProcess, stopProcess } from '../../../../os/process/child.ts';
import type { ProcessIdentity } from '../../../../os/process/identity.ts';
import { HostingError } from '../../errors.ts';
import type { PlaneDriver, PlaneMember, PlaneOwner, PlaneReport, PlaneSpec } from '../driver.ts';
import { readAccess } from './access.ts';
import {
  differencesOf,
  ensurePlane,
  notOurs,
  type PlaneFolder,
  planeLayout,
  portsFolder,
  readPlane,
  requireOwn,
} from './folder.ts';
import {
  type ControllersCommand,
  findMember,
  MEMBER_PROGRAMS,
  type MemberSpec,
  memberSpecs,
} from './members.ts';
import { createObserver, NO_MEMBERS } from './observe.ts';
import { releaseClaims } from './port-claims.ts';
import { createProgramsCache, type Programs } from './programs.ts';
import { PLANE_FILE, readStarts, recordStart, writePlaneRecord } from './records.ts';

export interface ProcessDriverOptions {
  readonly dir: string;
  /** The name of this machine. */
  readonly machine: string;
  readonly clock: Clock;
  /** Loads the programs of the control plane. It may take minutes, and is asked again after it failed. */
  readonly programs: () => Promise<Programs>;
  readonly controllers: ControllersCommand;
  /** Ends the machines that the controllers of a control plane created below its folder. */
  readonly endMachines: (root: string) => Promise<void>;
  /** The version of our own controllers. */
  readonly version: string;
  readonly freeBytes?: FreeBytes;
}

/** An empty etcd takes 64 MB for each of two log files; the rest is for a small cluster and its logs. */
const MIN_FREE_BYTES = 200e6;
/** The data is deleted, or the member starts again from its data: nothing is lost by a kill. */
const TERM_MS = 3000;

export function createProcessDriver(options: ProcessDriverOptions): PlaneDriver {
  const { dir, clock } = options;
  const observer = createObserver(clock);
  const programs = createProgramsCache(options.programs, clock);
  const locked = <T>({ name }: PlaneOwner, work: () => Promise<T>): Promise<T> =>
    withLock(planeLayout(dir, name).root, {}, work);
  return {
    observe: async (plane) => await observe(plane),
    prepare: (plane) => locked(plane, () => prepare(plane, options)),
    start: (plane, member) => locked(plane, () => start(plane, member)),
    stop: (plane, member) => locked(plane, () => stop(plane, member)),
    beginDestroy: (plane) => locked(plane, () => beginDestroy(plane)),
    remove: (plane) => locked(plane, () => remove(plane, options)),
    access: async (plane) => await readAccess(await readPlane(dir, plane)),
  };

  async function observe(plane: PlaneSpec): Promise<PlaneReport> {
    const found = await readPlane(dir, plane);
    const { record, state, claim, layout } = found;
    const specs = claim === 'Own' ? specsOf(found) : [];
    const known = {
      starts: await readStarts(layout.root),
      version: (spec: MemberSpec) => versionOf(spec, record?.version),
    };
    return {
      where: layout.root,
      location: `${options.machine}:${layout.root}`,
      claim,
      isPrepared: state !== undefined && (await readAccess(found)) !== undefined && specs.length > 0,
      isDestroying: claim === 'Own' && record?.isDestroying === true,
      differences: differencesOf(found, plane),
      version: record?.version,
      programs: programs.current().report,
      members: specs.length > 0 ? await observer.observe(specs, await listProcesses(), known) : NO_MEMBERS,
    };
  }

  /** The path of a program does not matter to recognize its process. */
  function specsOf({ layout, record, state }: PlaneFolder): readonly MemberSpec[] {
    if (!state || record?.controllersPort === undefined) return [];
    const path = programs.current().found?.path ?? ((name: string) => name);
    const { controllers } = options;
    return memberSpecs(record.cluster, {
      layout,
      state,
      path,
      controllers,
      controllersPort: record.controllersPort,
    });
  }

  function versionOf({ member }: MemberSpec, created: string | undefined): string | undefined {
    if (member === 'etcd') return undefined;
    return member === 'kubenode-controllers' ? options.version : created;
  }

  async function start(plane: PlaneSpec, member: PlaneMember): Promise<void> {
    const found = await readPlane(dir, plane);
    requireOwn(found);
    if (found.record?.isDestroying === true) return;
    const spec = specsOf(found).find((each) => each.member === member);
    const { found: loaded } = programs.current();
    if (!spec || !loaded) throw notPrepared(found, member);
    if (findMember(spec, await listProcesses())) return;
    await requireFreePort(spec);
    await recordStart(found.layout.root, member, clock.now());
    await startProcess(spec.command, spec.logFile);
  }

  async function stop(plane: PlaneOwner, member: PlaneMember): Promise<void> {
    const found = await readPlane(dir, plane);
    if (found.claim === 'None') return;
    requireOwn(found);
    const spec = specsOf(found).find((each) => each.member === member);
    if (!spec) return;
    const running = (await listProcesses()).filter(({ command }) => spec.matches(command));
    await Promise.all(running.map((process) => stopProcess(process, clock, TERM_MS)));
  }

  async function beginDestroy(plane: PlaneOwner): Promise<void> {
    const { record, layout, claim } = await readPlane(dir, plane);
    if (claim === 'Other') throw notOurs(layout.root);
    if (!record || record.isDestroying) return;
    await writePlaneRecord(layout.root, { ...record, isDestroying: true });
  }
}

async function prepare(plane: PlaneSpec, options: ProcessDriverOptions): Promise<void> {
  const { dir, clock, freeBytes } = options;
  await ensurePrivateFolder(dir);
  const { root } = planeLayout(dir, plane.name);
  if ((await readPlane(dir, plane)).claim === 'Other') throw notOurs(root);
  await ensurePrivateFolder(root);
  await checkFreeSpace(root, MIN_FREE_BYTES, freeBytes);
  const { state, layout, record } = await ensurePlane(dir, plane);
  if (record?.isDestroying === true) return;
  await mkdir(layout.logs, { recursive: true, mode: 0o700 });
  await mkdir(layout.etcd.dataFolder, { recursive: true, mode: 0o700 });
  await ensureAccess(state, layout, clock.now());
}

/** The record comes last: without it the owner of the folder is not known. */
async function remove(plane: PlaneOwner, { dir, endMachines }: ProcessDriverOptions): Promise<void> {
  const found = await readPlane(dir, plane);
  const { root } = found.layout;
  if (found.claim === 'None') {
    await rm(root, { recursive: true, force: true });
    return;
  }
  requireOwn(found);
  await endMachines(root);
  const running = (await listProcesses()).filter((process) => usesFolder(process, root, MEMBER_PROGRAMS));
  if (running.length > 0) throw stillRunning(root, running);
  for (const name of (await readdir(root)).filter((each) => each !== PLANE_FILE)) {
    await rm(join(root, name), { recursive: true, force: true });
  }
  await releaseClaims(portsFolder(dir), plane.name);
  await rm(join(root, PLANE_FILE), { force: true });
  await rmdir(root);
}

async function requireFreePort({ port, member }: MemberSpec): Promise<void> {
  if (await isPortFree(port)) return;
  throw new HostingError('PortInUse', `port ${port} of ${member} is in use by another program`, {
    where: `127.0.0.1:${port}`,
    hint: `stop that program; find it with: ss -ltnp 'sport = :${port}'`,
  });
}

function stillRunning(root: string, running: readonly ProcessIdentity[]): HostingError {
  const pids = running.map(({ pid }) => pid).join(', ');
  return new HostingError('NotStopped', `processes still use ${root}: ${pids}`, {
    where: root,
    hint: 'stop what was started by hand with kill; hosting stops its own processes',
  });
}

function notPrepared({ layout }: PlaneFolder, member: PlaneMember): HostingError {
  return new HostingError('NotPrepared', `${member} cannot be started: keys or programs are missing`, {
    where: layout.root,
    hint: 'nothing to do: hosting prepares them first',
  });
}
