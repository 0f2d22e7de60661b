/** Reads a control plane with what its members are started with, and takes the snapshot of its etcd. */
import { join } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import { etcdDataFolder } from '../../../../local/layout.ts';
import type { Clock } from '../../../../os/clock.ts';
import type { FreeBytes } from '../../../../os/files.ts';
import type { PlaneOwner, SettledPlane, UpkeepControl } from '../driver.ts';
import { readMembership } from '../etcd/membership.ts';
import type { MemberRuns } from '../runs.ts';
import { etcdEndpoints, etcdPlaces } from './etcd/endpoint.ts';
import { type PlaneFolder, readPlane, requireOwn } from './folder.ts';
import type { MemberSpec } from './member-spec.ts';
import { type MemberParts, memberSpecs } from './members.ts';
import { notPrepared } from './preparation/refusals.ts';
import type { Programs } from './programs.ts';
import { readRuns, recordedRuns, settledPlane } from './runs.ts';
import { type SnapshotSource, type SnapshotTools, takeSnapshot } from './snapshot.ts';

export interface OpenPlane extends PlaneFolder {
  readonly settled: SettledPlane | undefined;
  readonly runs: MemberRuns | undefined;
  /** It is empty before the control plane is prepared, and where the folder is not ours. */
  readonly specs: readonly MemberSpec[];
}

type OpenParts = Pick<MemberParts, 'programs' | 'controllers' | 'balancer'> & { readonly dir: string };

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
  parts: OpenParts,
): readonly MemberSpec[] {
  if (!state || !runs || record?.controllersPort === undefined) return [];
  const { controllersPort } = record;
  return memberSpecs(record.cluster, { ...parts, layout, state, runs, controllersPort });
}

export interface EtcdTools {
  readonly clock: Clock;
  readonly programs: readonly Programs[];
  readonly freeBytes?: FreeBytes | undefined;
  readonly control?: UpkeepControl;
}

/** The tools of what runs beside the other operations. */
export type ControlledTools = EtcdTools & Required<Pick<EtcdTools, 'control'>>;

/** Throws where the control plane is not ours, or is being destroyed. */
export function requireKept(plane: OpenPlane): void {
  requireOwn(plane);
  if (plane.record?.isDestroying === true) throw notPrepared(plane, 'etcd');
}

/** Takes the snapshot that is kept until the next upgrade, with the etcd of the version that runs. */
export async function snapshotPlane(plane: OpenPlane, tools: EtcdTools): Promise<void> {
  requireOwn(plane);
  const parts = await snapshotParts(plane, tools);
  await takeSnapshot(parts.source, snapshotFolder(plane), parts.tools);
}

/** Returns what a snapshot of the etcd is taken with: a member that has all data, and the programs of its version. */
export async function snapshotParts(
  plane: OpenPlane,
  tools: EtcdTools,
): Promise<{ readonly source: SnapshotSource; readonly tools: SnapshotTools }> {
  const { layout, runs, record } = plane;
  const source = await snapshotSource(plane);
  if (!source) throw notPrepared(plane, 'etcd');
  const about = {
    ...optional('cluster', record?.cluster),
    ...optional('kubernetesVersion', runs?.['kube-apiserver'].version),
  };
  return { source: { ...layout.etcd, ...source, about }, tools: etcdPrograms(plane, tools) };
}

/** Returns the programs of the version that the etcd is started with. */
export function etcdPrograms(plane: OpenPlane, tools: EtcdTools): SnapshotTools {
  const { clock, programs, freeBytes, control } = tools;
  const { runs, settled } = plane;
  const known = runs?.etcd.version;
  const set = programs.find((each) =>
    known === undefined ? each.version === settled?.version : each.etcdVersion === known,
  );
  if (!set) throw notPrepared(plane, 'etcd');
  const { path, etcdVersion } = set;
  return { path, clock, etcdVersion, ...optional('freeBytes', freeBytes), ...optional('control', control) };
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
  const found = await readMembership(await etcdPlaces(plane));
  return found && { endpoint: found.endpoint, dataFolder: etcdDataFolder(layout, found.index) };
}
