/**
 * The state file of a local fleet: its clusters and their ports. It does not record running processes; these are
 * observed, so that a crash cannot make the file wrong.
 */
import { z } from 'zod';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../os/files.ts';
import { LocalError } from './errors.ts';

const port = z.int().min(1).max(65_535);

const flags = z.record(z.string(), z.string());

/** How a hosted control plane differs from a local cluster. */
export const planeSettings = z.strictObject({
  podCIDR: z.string(),
  serviceCIDR: z.string(),
  serviceDomain: z.string(),
  /** The size of the database at which etcd refuses writes. */
  quotaMiB: z.int().min(1),
  /** The lifetime of certificates. Undefined: a year. */
  leafLifetimeSeconds: z.int().min(3600).optional(),
  /** The part of its life after which a certificate is renewed. */
  renewAtPercent: z.int().min(1).max(99),
  /** The number of members of etcd. Absent: one. */
  etcdReplicas: z.literal([3, 5]).optional(),
  /** Additional flags, without leading dashes. */
  apiServer: flags,
  controllerManager: flags,
  scheduler: flags,
});

const clusterState = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
  port,
  controllerManagerPort: port,
  schedulerPort: port,
  /** The address that the API server listens on. */
  bindAddress: z.string(),
  /** Additional names and addresses in its certificate. */
  names: z.array(z.string()).readonly(),
  /** Whether controller manager and scheduler run. */
  controllers: z.boolean(),
  plane: planeSettings.optional(),
  /** Present in a hosted control plane that has several API servers, or had: `port` is that of their balancers. */
  apiServers: z
    .strictObject({
      replicas: z.int().min(1).max(3),
      /** The port of each API server that there can be. */
      ports: z.array(port).length(3).readonly(),
      /** The ports for the health of the balancers. */
      balancerPorts: z.array(port).length(2).readonly(),
    })
    .optional(),
  /** Present in a hosted control plane that other machines reach: its gateways listen on all addresses. */
  exposure: z
    .strictObject({
      /** The name or address in the certificate and in kubeconfigs for others. */
      host: z.string(),
      port,
      /** The ports for the health of the gateways. */
      gatewayPorts: z.array(port).length(2).readonly(),
    })
    .optional(),
});

const fleetState = z.strictObject({
  version: z.literal(1),
  etcdPort: port,
  /** All members of an etcd that has several: the first has the port etcdPort. Absent: etcd has one member. */
  etcdMembers: z
    .array(z.strictObject({ port, peerPort: port }))
    .readonly()
    .optional(),
  clusters: z.array(clusterState).readonly(),
});

export type LocalClusterState = Readonly<z.infer<typeof clusterState>>;
export type ApiServersState = NonNullable<LocalClusterState['apiServers']>;
export type ExposureState = NonNullable<LocalClusterState['exposure']>;
export type PlaneSettings = Readonly<z.infer<typeof planeSettings>>;
export type FleetState = Readonly<z.infer<typeof fleetState>>;

/** Undefined if the file does not exist. */
export async function readState(path: string): Promise<FleetState | undefined> {
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  const { data, error } = fleetState.safeParse(parse(text));
  if (data) return data;
  const [issue] = error.issues;
  throw new LocalError('CorruptState', `${path} is not a valid state file: ${issue?.message ?? ''}`, {
    where: issue && issue.path.length > 0 ? `${path}, field ${issue.path.join('.')}` : path,
    hint: 'restore the file, or delete the local fleet with all its data: kubenode local down --wipe',
    cause: error,
  });
}

export async function writeState(path: string, state: FleetState): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(state, undefined, 2)}\n`, PRIVATE_MODE);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
