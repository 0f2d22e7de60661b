/** Reads a control plane with what its members are started with, and takes the snapshot of its etcd. */
import { join } from 'node:path';
import { etcdDataFolder } from '../../../../local/layout.ts';
import type { Clock } from '../../../../os/clock.ts';
import type { PlaneOwner, SettledPlane } from '../driver.ts';
import type { MemberRuns } from '../runs.ts';
import { etcdEndpoints } from './etcd/endpoint.ts';
import { readMembership } from './etcd/membership.ts';
import { type PlaneFolder, readPlane, requireOwn } from './folder.ts';
import { type MemberParts, type MemberSpec, memberSpecs } from './members.ts';
import { notPrepared } from './preparation/refusals.ts';
import type { Programs } from './programs.ts';
import { readRuns, recordedRuns, settledPlane } from './runs.ts';
import { type SnapshotSource, takeSnapshot } from './snapshot.ts';

export interface OpenPlane extends PlaneFolder {
  readonly settled: SettledPlane | undefined;
  readonly runs: MemberRuns | undefined;
  /** It is empty before the control plane is prepared, and where the folder is not ours. */
  readonly specs: readonly MemberSpec[];
}

type OpenParts = Pick<MemberParts, 'programs' | 'controllers'> & { readonly dir: string };

export async function readOpenPlane(plane: PlaneOwner, parts: OpenParts): Promise<OpenPlane> {
  const found = await readPlane(parts.dir, plane);
  if (found.claim !== 'Own') return { ...found, settled: undefined, runs: undefined, specs: [] };
  const record = await readRuns(found.layout.root);
  const settled = settledPlane(found, record);
  const runs = settled && recordedRuns(settled, record);
  return { ...found, settled, runs, specs: specsOf(found, runs, parts) };
}

function specsOf(
  { layout, record, state }: PlaneFolder,
  runs: MemberRuns | undefined,
  { programs, controllers }: OpenParts,
): readonly MemberSpec[] {
  if (!state || !runs || record?.controllersPort === undefined) return [];
  const { controllersPort } = record;
  return memberSpecs(record.cluster, { layout, state, runs, programs, controllers, controllersPort });
}

export interface SnapshotParts {
  readonly clock: Clock;
  readonly programs: readonly Programs[];
}

/** Takes the snapshot that is kept until the next upgrade, with the etcd of the version that runs. */
export async function snapshotPlane(plane: OpenPlane, { clock, programs }: SnapshotParts): Promise<void> {
  requireOwn(plane);
  const { layout, runs, settled } = plane;
  const known = runs?.etcd.version;
  const set = programs.find((each) =>
    known === undefined ? each.version === settled?.version : each.etcdVersion === known,
  );
  const source = await snapshotSource(plane);
  if (!source || !set) throw notPrepared(plane, 'etcd');
  const tools = { path: set.path, clock, etcdVersion: set.etcdVersion };
  await takeSnapshot({ ...layout.etcd, ...source }, snapshotFolder(plane), tools);
}

export function snapshotFolder({ layout }: Pick<PlaneFolder, 'layout'>): string {
  return join(layout.root, 'snapshots', 'upgrade');
}

/** Returns one of the members that count for the majority: a learner may not have all data yet. */
async function snapshotSource(
  plane: PlaneFolder,
): Promise<Pick<SnapshotSource, 'endpoint' | 'dataFolder'> | undefined> {
  const { layout, state } = plane;
  const [first] = await etcdEndpoints(plane);
  if (!state?.etcdMembers) return first && { endpoint: first, dataFolder: layout.etcd.dataFolder };
  const found = await readMembership(plane);
  return found && { endpoint: found.endpoint, dataFolder: etcdDataFolder(layout, found.index) };
}
