/** Reads the current status of a local fleet, without changes. */
import { readFileIfExists } from '../os/files.ts';
import { findFleetFolder } from './fleet.ts';
import type { Layout } from './layout.ts';
import { readAuthority } from './pki/authority.ts';
import { parsePair, readExpiry } from './pki/inspect.ts';
import { observeProcesses } from './processes/observe.ts';
import { isEndpointReady } from './processes/probe.ts';
import { createProcessSpecs, type ProcessSpec, serverUrl } from './processes/specs.ts';
import { type FleetState, type LocalClusterState, readState } from './state.ts';

export type ProcessReadiness = 'Ready' | 'NotReady' | 'Stopped';

export interface LocalProcessStatus {
  readonly program: string;
  readonly state: ProcessReadiness;
  readonly pid?: number;
  readonly port: number;
  readonly log: string;
}

export interface LocalClusterStatus {
  readonly name: string;
  /** The state of its least healthy process, including etcd, which all need. */
  readonly state: ProcessReadiness;
  readonly because: string;
  readonly server: string;
  readonly kubeconfig: string;
  /** When the certificate of the administrator expires; `up` renews it before. */
  readonly certificateExpires?: string;
  readonly processes: readonly LocalProcessStatus[];
}

export interface LocalFleetStatus {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly etcd: LocalProcessStatus;
  readonly clusters: readonly LocalClusterStatus[];
}

/** `etcd` once, and `PROGRAM of CLUSTER` for the others. */
export interface NamedProcess extends LocalProcessStatus {
  readonly id: string;
}

export function namedProcesses({ etcd, clusters }: LocalFleetStatus): readonly NamedProcess[] {
  const others = clusters.flatMap(({ name, processes }) =>
    processes
      .filter(({ program }) => program !== etcd.program)
      .map((process) => ({ ...process, id: `${process.program} of ${name}` })),
  );
  return [{ ...etcd, id: etcd.program }, ...others];
}

/** Undefined if there is no fleet in that folder. */
export async function readLocalFleetStatus(dir: string, now: Date): Promise<LocalFleetStatus | undefined> {
  const layout = await findFleetFolder(dir);
  const state = layout ? await readState(layout.stateFile) : undefined;
  if (!layout || !state) return undefined;
  // The paths of the programs do not matter: each process is recognized by its mark argument.
  const specs = createProcessSpecs(state, layout, (name) => name);
  const observed = await observeProcesses(specs, layout);
  const pids = new Map(observed.slots.map((slot) => [slot.id, slot.found[0]?.pid]));
  const statuses = await Promise.all(specs.map((spec) => readProcessStatus(spec, pids.get(spec.id), layout)));
  const statusesOf = (cluster?: string): LocalProcessStatus[] =>
    statuses.filter((_, index) => specs[index]?.cluster === cluster);
  const [etcd] = statusesOf();
  if (!etcd) throw new Error('the process specs contain no etcd');
  const clusters = await Promise.all(
    state.clusters.map((cluster) =>
      readClusterStatus(cluster, [etcd, ...statusesOf(cluster.name)], { layout, now }),
    ),
  );
  return { folder: layout.root, kubeconfig: layout.kubeconfig, etcd, clusters };
}

async function readProcessStatus(
  spec: ProcessSpec,
  pid: number | undefined,
  layout: Layout,
): Promise<LocalProcessStatus> {
  const { program, port, logFile: log } = spec;
  if (pid === undefined) return { program, state: 'Stopped', port, log };
  const state = (await isProcessReady(spec, layout)) ? 'Ready' : 'NotReady';
  return { program, state, pid, port, log };
}

async function isProcessReady({ cluster, readyUrl }: ProcessSpec, layout: Layout): Promise<boolean> {
  const folder = cluster === undefined ? layout.etcd.pkiFolder : layout.cluster(cluster).pkiFolder;
  const file = cluster === undefined ? 'client.pem' : 'admin.pem';
  const authority = await readAuthority(folder);
  const client = parsePair(await readFileIfExists(`${folder}/${file}`));
  return (
    authority !== undefined &&
    client !== undefined &&
    (await isEndpointReady({ url: readyUrl, caPem: authority.certPem, client }))
  );
}

async function readClusterStatus(
  cluster: LocalClusterState,
  all: readonly LocalProcessStatus[],
  { layout, now }: { readonly layout: Layout; readonly now: Date },
): Promise<LocalClusterStatus> {
  const { kubeconfig, pkiFolder } = layout.cluster(cluster.name);
  const admin = parsePair(await readFileIfExists(`${pkiFolder}/admin.pem`));
  const [, ...processes] = all;
  return {
    name: cluster.name,
    ...(admin && readExpiry(admin.certPem) <= now ? EXPIRED : summarizeProcesses(all)),
    server: serverUrl(cluster),
    kubeconfig,
    ...(admin ? { certificateExpires: readExpiry(admin.certPem).toISOString() } : {}),
    processes,
  };
}

/** With an expired certificate no request succeeds. */
const EXPIRED = {
  state: 'NotReady',
  because: 'certificates expired: run kubenode local up to renew them',
} as const;

/** Pure. The state of a cluster with these processes. */
export function summarizeProcesses(
  all: readonly LocalProcessStatus[],
): Pick<LocalClusterStatus, 'state' | 'because'> {
  const [first] = [
    ...all.filter(({ state }) => state === 'Stopped'),
    ...all.filter(({ state }) => state === 'NotReady'),
  ];
  if (!first) return { state: 'Ready', because: 'all processes are ready' };
  if (all.every(({ state }) => state === 'Stopped')) {
    return { state: 'Stopped', because: 'no process is running: start it with: kubenode local up' };
  }
  const problem = first.state === 'Stopped' ? 'is not running' : 'is not ready';
  return { state: 'NotReady', because: `${first.program} ${problem} (log: ${first.log})` };
}

export async function readLocalFleet(
  dir: string,
): Promise<{ state: FleetState; layout: Layout } | undefined> {
  const layout = await findFleetFolder(dir);
  const state = layout ? await readState(layout.stateFile) : undefined;
  return layout && state ? { layout, state } : undefined;
}
