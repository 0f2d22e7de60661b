/** Reads a control plane with what its members are started with, and takes the snapshot of its etcd. */
import { join } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import { readAuthority } from '../../../../local/pki/authority.ts';
import { parsePair } from '../../../../local/pki/inspect.ts';
import { LOOPBACK } from '../../../../local/processes/commands.ts';
import type { ProbeEndpoint } from '../../../../local/processes/probe.ts';
import type { Clock } from '../../../../os/clock.ts';
import { type FreeBytes, readFileIfExists } from '../../../../os/files.ts';
import type { PlaneOwner, SettledPlane } from '../driver.ts';
import type { MemberRuns } from '../runs.ts';
import { type PlaneFolder, readPlane, requireOwn } from './folder.ts';
import { type MemberParts, type MemberSpec, memberSpecs } from './members.ts';
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

export interface EtcdTools {
  readonly clock: Clock;
  readonly programs: readonly Programs[];
  readonly freeBytes?: FreeBytes | undefined;
}

/** Takes the snapshot that is kept until the next upgrade, with the etcd of the version that runs. */
export async function snapshotPlane(plane: OpenPlane, tools: EtcdTools): Promise<void> {
  requireOwn(plane);
  const parts = await snapshotParts(plane, tools);
  await takeSnapshot(parts.source, snapshotFolder(plane), parts.tools);
}

/** Returns what a snapshot of the etcd is taken or opened with: the programs of the version that it is started with. */
export async function snapshotParts(
  plane: OpenPlane,
  { clock, programs, freeBytes }: EtcdTools,
): Promise<{ readonly source: SnapshotSource; readonly tools: SnapshotTools }> {
  const { layout, state, runs, settled, record } = plane;
  const known = runs?.etcd.version;
  const set = programs.find((each) =>
    known === undefined ? each.version === settled?.version : each.etcdVersion === known,
  );
  const endpoint = state && (await etcdEndpoint(plane, state.etcdPort));
  if (!endpoint || !set) throw notPrepared(plane, 'etcd');
  const about = {
    ...optional('cluster', record?.cluster),
    ...optional('kubernetesVersion', runs?.['kube-apiserver'].version),
  };
  return {
    source: { endpoint, ...layout.etcd, about },
    tools: { path: set.path, clock, etcdVersion: set.etcdVersion, ...optional('freeBytes', freeBytes) },
  };
}

export function snapshotFolder({ layout }: Pick<PlaneFolder, 'layout'>): string {
  return join(layout.root, 'snapshots', 'upgrade');
}

/** Returns how a client asks the etcd of a control plane. Undefined before it has certificates. */
export async function etcdEndpoint(
  { layout }: PlaneFolder,
  port: number,
): Promise<ProbeEndpoint | undefined> {
  const { pkiFolder } = layout.etcd;
  const authority = await readAuthority(pkiFolder);
  const client = parsePair(await readFileIfExists(join(pkiFolder, 'client.pem')));
  if (!authority || !client) return undefined;
  return { url: `https://${LOOPBACK}:${port}`, caPem: authority.certPem, client };
}
