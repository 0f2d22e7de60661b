/**
 * The driver `process`: the members of a control plane are processes of this machine, in a folder of their own. They outlive the process
 * that started them. Nothing about running processes is stored: each is recognized by an argument that no other process has, and a signal
 * goes only to the pid that still has the same start time.
 */
import { readdir, rm, rmdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import { listProcesses, usesFolder } from '../../../../local/processes/observe.ts';
import type { Clock } from '../../../../os/clock.ts';
import type { FreeBytes } from '../../../../os/files.ts';
import { withLock } from '../../../../os/lock.ts';
import { isPortFree } from '../../../../os/net/ports.ts';
import { pollUntil } from '../../../../os/poll.ts';
import { type Command, startProcess, stopProcess } from '../../../../os/process/child.ts';
import type {
  MemberReport,
  MemberRun,
  PlaneDriver,
  PlaneMember,
  PlaneOwner,
  PlaneReport,
  PlaneSpec,
  RunMember,
  SettledPlane,
} from '../driver.ts';
import { settledDifferences } from '../runs.ts';
import { readAccess } from './access.ts';
import { notOurs, type PlaneFolder, planeLayout, portsFolder, readPlane, requireOwn } from './folder.ts';
import { findMember, MEMBER_PROGRAMS, type MemberSpec } from './members.ts';
import { createObserver, type KnownMembers, NO_MEMBERS } from './observe.ts';
import { type OpenPlane, readOpenPlane, snapshotFolder, snapshotPlane } from './plane.ts';
import { reportCertificates } from './preparation/certificates.ts';
import { readDataState } from './preparation/data.ts';
import { areKeysRecorded, lostKeys, requireKeys } from './preparation/keys.ts';
import { releaseClaims } from './preparation/port-claims.ts';
import { preparePlane } from './preparation/prepare.ts';
import { openEntries } from './preparation/rights.ts';
import { createProgramsCache, type Programs } from './programs.ts';
import { forgetStarts, PLANE_FILE, readStarts, recordStart, writePlaneRecord } from './records.ts';
import { dataNotOurs, notPrepared, portInUse, stillRunning } from './refusals.ts';
import { recordFirstStart, recordRun, recordSettled } from './runs.ts';
import { readSnapshot } from './snapshot.ts';

export interface ProcessDriverOptions {
  readonly dir: string;
  /** The name of this machine. */
  readonly machine: string;
  readonly clock: Clock;
  /** Loads the programs of the control plane. It may take minutes, and is asked again after it failed. */
  readonly programs: () => Promise<readonly Programs[]>;
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
  const { dir, clock, controllers } = options;
  const observer = createObserver(clock);
  const programs = createProgramsCache(options.programs, clock);
  const locked = <T>({ name }: PlaneOwner, work: () => Promise<T>): Promise<T> =>
    withLock(planeLayout(dir, name).root, {}, work);
  return {
    observe: async (plane) => await observe(plane),
    prepare: (plane) => locked(plane, () => preparePlane(plane, options)),
    start: (plane, member) => locked(plane, () => start(plane, member)),
    stop: (plane, member) => locked(plane, () => stop(plane, member)),
    change: (plane, member, run) => locked(plane, () => change(plane, member, run)),
    snapshot: (plane) => locked(plane, () => snapshot(plane)),
    settle: (plane, settled) => locked(plane, () => settle(dir, plane, settled)),
    beginDestroy: (plane) => locked(plane, () => beginDestroy(dir, plane)),
    remove: (plane) => locked(plane, () => remove(dir, plane)),
    access: async (plane) => await readAccess(await readPlane(dir, plane)),
  };

  async function observe(plane: PlaneSpec): Promise<PlaneReport> {
    const found = await openPlane(plane);
    const { record, claim, layout, settled, specs, runs } = found;
    const starts = await readStarts(layout.root);
    const snapshotAt = await readSnapshot(snapshotFolder(found));
    return {
      where: layout.root,
      location: `${options.machine}:${layout.root}`,
      claim,
      isPrepared: specs.length > 0 && (await isComplete(found)),
      data: await dataOf(found),
      lostKeys: claim === 'Own' ? await lostKeys(found) : [],
      certificates: await reportCertificates(found, plane.settings, clock.now()),
      isDestroying: claim === 'Own' && record?.isDestroying === true,
      differences: settledDifferences(settled, plane),
      settled,
      programs: programs.current().report,
      ...optional('snapshotAt', snapshotAt && new Date(snapshotAt.takenAt)),
      members: runs && specs.length > 0 ? await observeAll(specs, { starts, runs }) : NO_MEMBERS,
    };
  }

  async function observeAll(
    specs: readonly MemberSpec[],
    known: Omit<KnownMembers, 'version'>,
  ): Promise<readonly MemberReport[]> {
    return await observer.observe(specs, await listProcesses(), { ...known, version: options.version });
  }

  async function openPlane(plane: PlaneOwner): Promise<OpenPlane> {
    return await readOpenPlane(plane, { dir, programs: programs.current().found, controllers });
  }

  async function start(plane: PlaneSpec, member: PlaneMember): Promise<void> {
    const found = await openPlane(plane);
    requireOwn(found);
    if (found.record?.isDestroying === true) return;
    const spec = found.specs.find((each) => each.member === member);
    if (!spec || !isAbsolute(spec.command.program)) throw notPrepared(found, member);
    if (findMember(spec, await listProcesses())) return;
    if ((await dataOf(found)) === 'Other') throw dataNotOurs(found);
    await requireKeys(found);
    await requireFreePort(spec, clock);
    if (found.settled) await recordFirstStart(found.layout.root, found.settled, programs.current().found);
    await recordStart(found.layout.root, member, clock.now());
    await startProcess(spec.command, spec.logFile);
  }

  async function stop(plane: PlaneOwner, member: PlaneMember): Promise<void> {
    const found = await openPlane(plane);
    if (found.claim === 'None') return;
    requireOwn(found);
    const spec = found.specs.find((each) => each.member === member);
    if (spec) await stopAll(spec, clock);
  }

  /** The starts are forgotten first: after a crash in between they would only count less. */
  async function change(plane: PlaneOwner, member: RunMember, run: MemberRun): Promise<void> {
    const before = await openPlane(plane);
    requireOwn(before);
    if (before.record?.isDestroying === true) return;
    const { root } = before.layout;
    await forgetStarts(root, member);
    await recordRun(root, member, run);
    const { specs, runs } = await openPlane(plane);
    const spec = specs.find((each) => each.member === member);
    if (!spec || !runs) throw notPrepared(before, member);
    const [report] = await observeAll([spec], { starts: {}, runs });
    if (report?.isOutdated === true) await stopAll(spec, clock);
  }

  async function snapshot(plane: PlaneOwner): Promise<void> {
    const found = await openPlane(plane);
    requireOwn(found);
    await snapshotPlane(found, { clock, programs: programs.current().found });
  }
}

async function stopAll({ matches }: MemberSpec, clock: Clock): Promise<void> {
  const running = (await listProcesses()).filter(({ command }) => matches(command));
  await Promise.all(running.map((process) => stopProcess(process, clock, TERM_MS)));
}

async function settle(dir: string, plane: PlaneOwner, settled: SettledPlane): Promise<void> {
  const found = await readPlane(dir, plane);
  requireOwn(found);
  await recordSettled(found.layout.root, settled);
}

async function beginDestroy(dir: string, plane: PlaneOwner): Promise<void> {
  const { record, layout, claim } = await readPlane(dir, plane);
  if (claim === 'Other') throw notOurs(layout.root);
  if (!record || record.isDestroying) return;
  await writePlaneRecord(layout.root, { ...record, isDestroying: true });
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
