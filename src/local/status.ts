/** A fleet as it is now. Looks, and changes nothing. */

import { readFileIfExists } from '../os/files.ts';
import { existingFolder } from './fleet.ts';
import type { Layout } from './layout.ts';
import { readAuthority } from './pki/authority.ts';
import { expiryOf, parsePair } from './pki/inspect.ts';
import { observe } from './processes/observe.ts';
import { isReady } from './processes/probe.ts';
import { type ProcessSpec, processesOf, serverUrl } from './processes/specs.ts';
import { type ClusterState, type FleetState, readState } from './state.ts';

export type ProcessCondition = 'Ready' | 'NotReady' | 'Stopped';

export interface ProcessStatus {
  readonly program: string;
  readonly state: ProcessCondition;
  readonly pid?: number;
  readonly port: number;
  readonly log: string;
}

export interface ClusterStatus {
  readonly name: string;
  /** Of its least healthy process, etcd included: without it the others are of no use. */
  readonly state: ProcessCondition;
  readonly because: string;
  readonly server: string;
  readonly kubeconfig: string;
  /** When the administrator's certificate ends; `up` renews it in time. */
  readonly certificateExpires?: string;
  readonly processes: readonly ProcessStatus[];
}

export interface FleetStatus {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly etcd: ProcessStatus;
  readonly clusters: readonly ClusterStatus[];
}

/** Undefined when there is no fleet in that folder. */
export async function statusOf(dir: string, now: Date): Promise<FleetStatus | undefined> {
  const layout = await existingFolder(dir);
  const state = layout ? await readState(layout.stateFile) : undefined;
  if (!layout || !state) return undefined;
  // Where the programs lie does not matter here: processes are found by their marks.
  const specs = processesOf(state, layout, (name) => name);
  const observed = await observe(specs, layout);
  const found = new Map(observed.slots.map((slot) => [slot.id, slot.found[0]?.pid]));
  const statuses = await Promise.all(specs.map((spec) => processStatus(spec, found.get(spec.id), layout)));
  const of = (cluster?: string): ProcessStatus[] =>
    statuses.filter((_, index) => specs[index]?.cluster === cluster);
  const [etcd] = of();
  if (!etcd) throw new Error('a fleet without etcd');
  const clusters = await Promise.all(
    state.clusters.map((cluster) => clusterStatus(cluster, [etcd, ...of(cluster.name)], { layout, now })),
  );
  return { folder: layout.root, kubeconfig: layout.kubeconfig, etcd, clusters };
}

async function processStatus(
  spec: ProcessSpec,
  pid: number | undefined,
  layout: Layout,
): Promise<ProcessStatus> {
  const { program, port, logFile: log } = spec;
  if (pid === undefined) return { program, state: 'Stopped', port, log };
  const state = (await answers(spec, layout)) ? 'Ready' : 'NotReady';
  return { program, state, pid, port, log };
}

async function answers({ cluster, readyUrl }: ProcessSpec, layout: Layout): Promise<boolean> {
  const folder = cluster === undefined ? layout.etcd.pkiFolder : layout.cluster(cluster).pkiFolder;
  const file = cluster === undefined ? 'client.pem' : 'admin.pem';
  const authority = await readAuthority(folder);
  const client = parsePair(await readFileIfExists(`${folder}/${file}`));
  return (
    authority !== undefined &&
    client !== undefined &&
    (await isReady({ url: readyUrl, caPem: authority.certPem, client }))
  );
}

async function clusterStatus(
  cluster: ClusterState,
  all: readonly ProcessStatus[],
  { layout, now }: { readonly layout: Layout; readonly now: Date },
): Promise<ClusterStatus> {
  const { kubeconfig, pkiFolder } = layout.cluster(cluster.name);
  const admin = parsePair(await readFileIfExists(`${pkiFolder}/admin.pem`));
  const [, ...processes] = all;
  return {
    name: cluster.name,
    ...(admin && expiryOf(admin.certPem) <= now ? EXPIRED : worstOf(all)),
    server: serverUrl(cluster),
    kubeconfig,
    ...(admin ? { certificateExpires: expiryOf(admin.certPem).toISOString() } : {}),
    processes,
  };
}

/** Then nothing answers us, whatever else may be wrong. */
const EXPIRED = {
  state: 'NotReady',
  because: 'its certificates have expired: kubenode local up renews them',
} as const;

/** Pure. */
export function worstOf(all: readonly ProcessStatus[]): Pick<ClusterStatus, 'state' | 'because'> {
  const [first] = [
    ...all.filter(({ state }) => state === 'Stopped'),
    ...all.filter(({ state }) => state === 'NotReady'),
  ];
  if (!first) return { state: 'Ready', because: 'all processes answer' };
  if (all.every(({ state }) => state === 'Stopped')) return { state: 'Stopped', because: 'no process runs' };
  const what = first.state === 'Stopped' ? 'does not run' : 'does not answer';
  return { state: 'NotReady', because: `${first.program} ${what} (log: ${first.log})` };
}

export async function requireState(dir: string): Promise<{ state: FleetState; layout: Layout } | undefined> {
  const layout = await existingFolder(dir);
  const state = layout ? await readState(layout.stateFile) : undefined;
  return layout && state ? { layout, state } : undefined;
}
