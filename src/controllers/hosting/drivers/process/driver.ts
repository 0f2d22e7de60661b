/**
 * The driver `process`: the members of a control plane are processes of this machine, in a folder of their own. They outlive the process
 * that started them. Nothing about running processes is stored: each is recognized by an argument that no other process has, and a signal
 * goes only to the pid that still has the same start time.
 */
import { mkdir } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import { ensureAccess } from '../../../../local/pki/access.ts';
import { listProcesses } from '../../../../local/processes/observe.ts';
import type { Clock } from '../../../../os/clock.ts';
import { checkFreeSpace, ensurePrivateFolder, type FreeBytes } from '../../../../os/files.ts';
import { withLock } from '../../../../os/lock.ts';
import { isPortFree } from '../../../../os/net/ports.ts';
import { startProcess, stopProcess } from '../../../../os/process/child.ts';
import { HostingError } from '../../errors.ts';
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
import { ensurePlane, notOurs, planeLayout, readPlane, requireOwn } from './folder.ts';
import { type ControllersCommand, findMember, type MemberSpec } from './members.ts';
import { createObserver, type KnownMembers, NO_MEMBERS } from './observe.ts';
import { notPrepared, type OpenPlane, readOpenPlane, snapshotFolder, snapshotPlane } from './plane.ts';
import { createProgramsCache, type Programs } from './programs.ts';
import { forgetStarts, readStarts, recordStart, writePlaneRecord } from './records.ts';
import { removePlane } from './remove.ts';
import { recordFirstStart, recordRun, recordSettled } from './runs.ts';
import { readSnapshot } from './snapshot.ts';

export interface ProcessDriverOptions {
  readonly dir: string;
  /** The name of this machine. */
  readonly machine: string;
  readonly clock: Clock;
  /** Loads the programs of the control plane. It may take minutes, and is asked again after it failed. */
  readonly programs: () => Promise<readonly Programs[]>;
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
  const { dir, clock, controllers } = options;
  const observer = createObserver(clock);
  const programs = createProgramsCache(options.programs, clock);
  const locked = <T>({ name }: PlaneOwner, work: () => Promise<T>): Promise<T> =>
    withLock(planeLayout(dir, name).root, {}, work);
  return {
    observe: async (plane) => await observe(plane),
    prepare: (plane) => locked(plane, () => prepare(plane, options)),
    start: (plane, member) => locked(plane, () => start(plane, member)),
    stop: (plane, member) => locked(plane, () => stop(plane, member)),
    change: (plane, member, run) => locked(plane, () => change(plane, member, run)),
    snapshot: (plane) => locked(plane, () => snapshot(plane)),
    settle: (plane, settled) => locked(plane, () => settle(dir, plane, settled)),
    beginDestroy: (plane) => locked(plane, () => beginDestroy(dir, plane)),
    remove: (plane) => locked(plane, () => removePlane(plane, options)),
    access: async (plane) => await readAccess(await readPlane(dir, plane)),
  };

  async function observe(plane: PlaneSpec): Promise<PlaneReport> {
    const found = await openPlane(plane);
    const { record, state, claim, layout, settled, specs, runs } = found;
    const starts = await readStarts(layout.root);
    const snapshotAt = await readSnapshot(snapshotFolder(found));
    return {
      where: layout.root,
      location: `${options.machine}:${layout.root}`,
      claim,
      isPrepared: state !== undefined && (await readAccess(found)) !== undefined && specs.length > 0,
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
    await requireFreePort(spec);
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

  async function change(plane: PlaneOwner, member: RunMember, run: MemberRun): Promise<void> {
    const before = await openPlane(plane);
    if (!(await recordChange(before, member, run))) return;
    const { specs, runs } = await openPlane(plane);
    const spec = specs.find((each) => each.member === member);
    if (!spec || !runs) throw notPrepared(before, member);
    const [report] = await observeAll([spec], { starts: {}, runs });
    // A process whose version cannot be read may be of the version before.
    if (report?.isOutdated === true || report?.version === undefined) await stopAll(spec, clock);
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

/** Resolves to false when nothing may be changed. The starts are forgotten first: after a crash in between they only count less. */
async function recordChange(found: OpenPlane, member: RunMember, run: MemberRun): Promise<boolean> {
  requireOwn(found);
  if (found.record?.isDestroying === true) return false;
  const { root } = found.layout;
  await forgetStarts(root, member);
  // Our controllers end with the API server: that is not a crash.
  if (member === 'kube-apiserver') await forgetStarts(root, 'kubenode-controllers');
  await recordRun(root, member, run);
  return true;
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

async function requireFreePort({ port, member }: MemberSpec): Promise<void> {
  if (await isPortFree(port)) return;
  throw new HostingError('PortInUse', `port ${port} of ${member} is in use by another program`, {
    where: `127.0.0.1:${port}`,
    hint: `stop that program; find it with: ss -ltnp 'sport = :${port}'`,
  });
}
