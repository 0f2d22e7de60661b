/**
 * The driver `process`: the members of a control plane are processes of this machine, in a folder of their own. They outlive the process
 * that started them. Nothing about running processes is stored: each is recognized by an argument that no other process has, and a signal
 * goes only to the pid that still has the same start time.
 */
import { isAbsolute } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import { listProcesses } from '../../../../local/processes/observe.ts';
import type { Clock } from '../../../../os/clock.ts';
import type { FreeBytes } from '../../../../os/files.ts';
import { startProcess } from '../../../../os/process/child.ts';
import {
  type ChangeableMember,
  isApiServer,
  isRunMember,
  type MemberOutage,
  type MemberReport,
  type MemberRun,
  type PlaneDriver,
  type PlaneMember,
  type PlaneOwner,
  type PlaneReport,
  type PlaneSpec,
  type RunMember,
  type SettledPlane,
} from '../driver.ts';
import { readSnapshot } from '../etcd/snapshot.ts';
import { settledDifferences } from '../runs.ts';
import { readAccess } from './access.ts';
import type { BalancerCommand } from './api-servers/balancers.ts';
import { changeCount } from './api-servers/count.ts';
import { createBackups, readBackups } from './backup/operations.ts';
import { createEtcdActs, type OnPlane, reportEtcd, startCommand } from './etcd/acts.ts';
import { reportSpace } from './etcd/plane-space.ts';
import { changeOutside, type ExposureTools } from './exposure/change.ts';
import { createPlaneLocks, notOurs, readPlane, requireOwn } from './folder.ts';
import type { MemberSpec } from './member-spec.ts';
import { type ControllersCommand, findMember } from './members.ts';
import { createObserver, type KnownMembers, NO_MEMBERS } from './observe.ts';
import { type EtcdTools, type OpenPlane, readOpenPlane, snapshotFolder, snapshotPlane } from './plane.ts';
import { createClaimSweep } from './preparation/claim-sweep.ts';
import { dataOf, reportPreparation } from './preparation/complete.ts';
import { requirePorts } from './preparation/free-ports.ts';
import { requireKeys } from './preparation/keys.ts';
import { preparePlane } from './preparation/prepare.ts';
import { dataNotOurs, notPrepared } from './preparation/refusals.ts';
import { createProgramsCache, type Programs } from './programs.ts';
import { forgetStarts, readStarts, recordStart, writePlaneRecord } from './records.ts';
import { removePlane } from './remove.ts';
import { recordRotationStart } from './rotation/record.ts';
import { reportRotation } from './rotation/report.ts';
import { rotatePlane } from './rotation/rotate.ts';
import { signAuthorities } from './rotation/signed.ts';
import { recordFirstStart, recordRun, recordSettled } from './runs.ts';
import { endProcesses, hasSeveral } from './stop.ts';

export interface ProcessDriverOptions {
  readonly dir: string;
  /** The name of this machine. */
  readonly machine: string;
  readonly clock: Clock;
  /** Loads the programs of the control plane. It may take minutes, and is asked again after it failed. */
  readonly programs: () => Promise<readonly Programs[]>;
  readonly controllers: ControllersCommand;
  readonly balancer: BalancerCommand;
  /** Ends the machines that the controllers of a control plane created below its folder. */
  readonly endMachines: (root: string) => Promise<void>;
  /** The version of our own controllers. */
  readonly version: string;
  readonly freeBytes?: FreeBytes;
  /** The memory of this machine that programs can have. */
  readonly availableBytes?: () => Promise<number>;
}

export function createProcessDriver(options: ProcessDriverOptions): PlaneDriver {
  const { dir, clock, freeBytes, controllers, balancer } = options;
  const commands = { dir, controllers, balancer };
  const [observer, programs] = [createObserver(clock), createProgramsCache(options.programs, clock)];
  const tools = (): EtcdTools => ({ clock, freeBytes, programs: programs.current().found });
  const { locked, upkeep, alone } = createPlaneLocks(dir);
  const sweep = createClaimSweep(dir, locked);
  const onPlane: OnPlane = (plane, act) => locked(plane, async () => act(await openPlane(plane)));
  return {
    observe: (plane) => sweep(plane).then(() => observe(plane)),
    prepare: (plane) => locked(plane, () => preparePlane(plane, options)),
    start: (plane, member) => locked(plane, () => start(plane, member)),
    stop: (plane, member) => locked(plane, async () => stop(await openPlane(plane), member, clock)),
    change: (plane, member, run) => locked(plane, () => change(plane, member, run)),
    ...createPlaceActs(options, onPlane),
    ...createEtcdActs(clock, onPlane),
    snapshot: (plane) => locked(plane, async () => snapshotPlane(await openPlane(plane), tools())),
    backups: createBackups({ ...options, locked, upkeep, open: openPlane, tools }),
    rotate: (plane, step) => locked(plane, () => rotatePlane(plane, step, options)),
    signAuthorities: (plane, known) => locked(plane, () => signAuthorities(plane, known, options)),
    settle: (plane, settled) => locked(plane, () => settle(dir, plane, settled)),
    beginDestroy: (plane) => locked(plane, () => beginDestroy(dir, plane)),
    remove: (plane) => alone(plane, () => removePlane(plane, options)),
    access: async (plane) => await readAccess(await readPlane(dir, plane)),
  };

  async function observe(plane: PlaneSpec): Promise<PlaneReport> {
    const found = await openPlane(plane);
    const { layout, specs, runs } = found;
    const starts = await readStarts(layout.root);
    const members = runs && specs.length > 0 ? await observeAll(specs, { starts, runs }) : NO_MEMBERS;
    return {
      location: `${options.machine}:${layout.root}`,
      ...reportRecord(found, plane),
      ...(await reportPreparation(found, plane, clock.now())),
      programs: programs.current().report,
      ...(await reportUpkeep(found, dir)),
      ...(await reportMembers(found, members, clock)),
    };
  }

  async function observeAll(
    specs: readonly MemberSpec[],
    known: Omit<KnownMembers, 'version'>,
  ): Promise<readonly MemberReport[]> {
    return await observer.observe(specs, await listProcesses(), { ...known, version: options.version });
  }

  async function openPlane(plane: PlaneOwner): Promise<OpenPlane> {
    return await readOpenPlane(plane, { ...commands, programs: programs.current().found });
  }

  async function start(plane: PlaneSpec, member: PlaneMember): Promise<void> {
    const found = await openPlane(plane);
    requireOwn(found);
    if (found.record?.isDestroying === true) return;
    const spec = requireStartable(found, member);
    if (findMember(spec, await listProcesses())) return;
    if ((await dataOf(found)) === 'Other') throw dataNotOurs(found);
    await requireKeys(found);
    const command = await startCommand(found, spec);
    await requirePorts(found, spec, clock);
    await recordFirstStart(found, member, programs.current().found);
    await recordStarting(found, member, clock);
    beginOutage(found, spec, 'Start');
    await startProcess(command, spec.logFile);
  }

  async function change(plane: PlaneOwner, member: ChangeableMember, run: MemberRun): Promise<void> {
    const before = await openPlane(plane);
    // Our own controllers have the version of this hosting when they are started.
    if (!isRunMember(member)) throw notPrepared(before, member);
    if (!(await recordChange(before, member, run))) return;
    const found = await openPlane(plane);
    const { specs, runs } = found;
    const spec = specs.find((each) => each.member === member);
    if (!spec || !runs) throw notPrepared(before, member);
    const [report] = await observeAll([spec], { starts: {}, runs });
    if (!mayBeOutdated(report)) return;
    beginOutage(found, spec, 'Change');
    await endProcesses(found, spec, clock);
  }

  /** Clients of several API servers are served while one of them is away. */
  function beginOutage(found: OpenPlane, spec: MemberSpec, cause: MemberOutage['cause']): void {
    if (!hasSeveral(found.state)) observer.outages.begin(spec, cause);
  }
}

function requireStartable(found: OpenPlane, member: PlaneMember): MemberSpec {
  const spec = found.specs.find((each) => each.member === member);
  if (!spec || !isAbsolute(spec.command.program)) throw notPrepared(found, member);
  return spec;
}

/** A process whose version cannot be read may be of the version before. */
function mayBeOutdated(report: MemberReport | undefined): boolean {
  return report?.isOutdated === true || report?.version === undefined;
}

function reportRecord(
  { record, claim, layout, settled, state }: OpenPlane,
  plane: PlaneSpec,
): Pick<PlaneReport, 'where' | 'outside' | 'claim' | 'isDestroying' | 'differences' | 'settled'> {
  const exposure = claim === 'Own' ? state?.clusters[0]?.exposure : undefined;
  return {
    where: layout.root,
    ...optional('outside', exposure && { host: exposure.host, port: exposure.port }),
    claim,
    isDestroying: claim === 'Own' && record?.isDestroying === true,
    differences: settledDifferences(settled, plane),
    settled,
  };
}

async function recordStarting(
  { layout: { root } }: OpenPlane,
  member: PlaneMember,
  clock: Clock,
): Promise<void> {
  await recordStart(root, member, clock.now());
  await recordRotationStart(root, member);
}

async function reportMembers(
  found: OpenPlane,
  members: readonly MemberReport[],
  clock: Clock,
): Promise<Pick<PlaneReport, 'members' | 'etcd' | 'rotation' | 'authorities'>> {
  return { ...(await reportEtcd(found, members)), ...(await reportRotation(found, members, clock)) };
}

async function reportUpkeep(
  found: OpenPlane,
  dir: string,
): Promise<Pick<PlaneReport, 'backup' | 'space' | 'snapshotAt'>> {
  const snapshot = await readSnapshot(snapshotFolder(found));
  return {
    ...optional('backup', await readBackups(found, dir)),
    ...optional('space', await reportSpace(found)),
    ...optional('snapshotAt', snapshot && new Date(snapshot.takenAt)),
  };
}

/** Resolves to false when nothing may be changed. The starts are forgotten first: after a crash in between they only count less. */
async function recordChange(found: OpenPlane, member: RunMember, run: MemberRun): Promise<boolean> {
  requireOwn(found);
  if (found.record?.isDestroying === true) return false;
  const { root } = found.layout;
  await forgetStarts(root, member);
  // Our controllers end with the API server: that is not a crash.
  if (isApiServer(member)) await forgetStarts(root, 'kubenode-controllers');
  await recordRun(root, member, run);
  return true;
}

async function stop(found: OpenPlane, member: PlaneMember, clock: Clock): Promise<void> {
  if (found.claim === 'None') return;
  requireOwn(found);
  for (const spec of found.specs) if (spec.member === member) await endProcesses(found, spec, clock);
}

/** Nothing is recorded for a control plane that is being destroyed. */
function createPlaceActs(
  tools: ExposureTools,
  onPlane: OnPlane,
): Required<Pick<PlaneDriver, 'setApiServers' | 'setOutside'>> {
  const onKept: OnPlane = (plane, act) =>
    onPlane(plane, async (found) => {
      requireOwn(found);
      if (found.record?.isDestroying !== true) await act(found);
    });
  return {
    setApiServers: (plane, count) => onKept(plane, (found) => changeCount(found, count, tools.dir)),
    setOutside: (plane, outside) => onKept(plane, (found) => changeOutside(found, outside, tools)),
  };
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
