/**
 * The driver `process`: the members of a control plane are processes of this machine, in a folder of their own. They outlive the process
 * that started them. Nothing about running processes is stored: each is recognized by an argument that no other process has, and a signal
 * goes only to the pid that still has the same start time.
 */
import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listProcesses, usesFolder } from '../../../../local/processes/observe.ts';
import type { Clock } from '../../../../os/clock.ts';
import type { FreeBytes } from '../../../../os/files.ts';
import { withLock } from '../../../../os/lock.ts';
import { isPortFree } from '../../../../os/net/ports.ts';
import { pollUntil } from '../../../../os/poll.ts';
import { type Command, startProcess, stopProcess } from '../../../../os/process/child.ts';
import type { PlaneDriver, PlaneMember, PlaneOwner, PlaneReport, PlaneSpec } from '../driver.ts';
import { readAccess } from './access.ts';
import { reportCertificates } from './certificates.ts';
import { readDataState } from './data.ts';
import {
  differencesOf,
  notOurs,
  type PlaneFolder,
  planeLayout,
  portsFolder,
  readPlane,
  requireOwn,
} from './folder.ts';
import { areKeysRecorded, lostKeys, requireKeys } from './keys.ts';
import { findMember, MEMBER_PROGRAMS, type MemberSpec, memberSpecs } from './members.ts';
import { createObserver, NO_MEMBERS } from './observe.ts';
import { releaseClaims } from './port-claims.ts';
import { preparePlane } from './prepare.ts';
import { createProgramsCache, type Programs } from './programs.ts';
import { PLANE_FILE, readStarts, recordStart, writePlaneRecord } from './records.ts';
import { dataNotOurs, notPrepared, portInUse, stillRunning } from './refusals.ts';
import { openEntries } from './rights.ts';

export interface ProcessDriverOptions {
  readonly dir: string;
  /** The name of this machine. */
  readonly machine: string;
  readonly clock: Clock;
  /** Loads the programs of the control plane. It may take minutes, and is asked again after it failed. */
  readonly programs: () => Promise<Programs>;
  /** The command of our own controllers, with a kubeconfig of one cluster only. */
  readonly controllers: (kubeconfig: string, port: number) => Command;
  /** The version of our own controllers. */
  readonly version: string;
  readonly freeBytes?: FreeBytes;
}

/** The data is deleted, or the member starts again from its data: nothing is lost by a kill. */
const TERM_MS = 3000;
const CLOSED_MS = 1000;

export function createProcessDriver(options: ProcessDriverOptions): PlaneDriver {
  const { dir, clock } = options;
  const observer = createObserver(clock);
  const programs = createProgramsCache(options.programs, clock);
  const locked = <T>({ name }: PlaneOwner, work: () => Promise<T>): Promise<T> =>
    withLock(planeLayout(dir, name).root, {}, work);
  return {
    observe: async (plane) => await observe(plane),
    prepare: (plane) => locked(plane, () => preparePlane(plane, options)),
    start: (plane, member) => locked(plane, () => start(plane, member)),
    stop: (plane, member) => locked(plane, () => stop(plane, member)),
    beginDestroy: (plane) => locked(plane, () => beginDestroy(plane)),
    remove: (plane) => locked(plane, () => remove(dir, plane)),
    access: async (plane) => await readAccess(await readPlane(dir, plane)),
  };

  async function observe(plane: PlaneSpec): Promise<PlaneReport> {
    const found = await readPlane(dir, plane);
    const { record, claim, layout } = found;
    const specs = claim === 'Own' ? specsOf(found) : [];
    const known = {
      starts: await readStarts(layout.root),
      version: (spec: MemberSpec) => versionOf(spec, record?.version, options.version),
    };
    return {
      where: layout.root,
      location: `${options.machine}:${layout.root}`,
      claim,
      isPrepared: specs.length > 0 && (await isComplete(found)),
      data: await dataOf(found),
      lostKeys: claim === 'Own' ? await lostKeys(found) : [],
      certificates: await reportCertificates(found, plane.settings, clock.now()),
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

  async function start(plane: PlaneSpec, member: PlaneMember): Promise<void> {
    const found = await readPlane(dir, plane);
    requireOwn(found);
    if (found.record?.isDestroying === true) return;
    const spec = specsOf(found).find((each) => each.member === member);
    const { found: loaded } = programs.current();
    if (!spec || !loaded) throw notPrepared(found, member);
    if (findMember(spec, await listProcesses())) return;
    if ((await dataOf(found)) === 'Other') throw dataNotOurs(found);
    await requireKeys(found);
    await requireFreePort(spec, clock);
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

function versionOf({ member }: MemberSpec, created: string | undefined, own: string): string | undefined {
  if (member === 'etcd') return undefined;
  return member === 'kubenode-controllers' ? own : created;
}

/** Tells whether everything was made that is made before a member starts, and others may read none of it. */
async function isComplete(found: PlaneFolder): Promise<boolean> {
  const { record, layout } = found;
  if (!record || record.isDataMarked !== true || !areKeysRecorded(record)) return false;
  if ((await readAccess(found)) === undefined) return false;
  return (await openEntries(layout, record.cluster)).length === 0;
}

async function dataOf({ record, layout, claim }: PlaneFolder): Promise<PlaneReport['data']> {
  if (!record || claim !== 'Own') return 'Empty';
  const { uid, isDataMarked: isMarked = false } = record;
  return await readDataState(layout.etcd.dataFolder, { uid, isMarked });
}

/** The record comes last: without it the owner of the folder is not known. */
async function remove(dir: string, plane: PlaneOwner): Promise<void> {
  const found = await readPlane(dir, plane);
  const { root } = found.layout;
  if (found.claim === 'None') {
    await rm(root, { recursive: true, force: true });
    return;
  }
  requireOwn(found);
  const running = (await listProcesses()).filter((process) => usesFolder(process, root, MEMBER_PROGRAMS));
  if (running.length > 0) throw stillRunning(root, running);
  for (const name of (await readdir(root)).filter((each) => each !== PLANE_FILE)) {
    await rm(join(root, name), { recursive: true, force: true });
  }
  await releaseClaims(portsFolder(dir), plane.name);
  await rm(join(root, PLANE_FILE), { force: true });
  await rmdir(root);
}

/** The kernel forgets the command line of a process that ends before it closes its sockets, so a member that just ended gets a moment. */
async function requireFreePort(spec: MemberSpec, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonicMs() + CLOSED_MS;
  const isFree = await pollUntil(() => isPortFree(spec.port), { clock, everyMs: 50, deadlineMs });
  if (!isFree) throw portInUse(spec);
}
