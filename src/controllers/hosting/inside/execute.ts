/** Reads and installs what hosting needs inside a hosted cluster, with the kubeconfig of its administrator. */
import type { SignedAuthorities } from '../../../api/authorities/document.ts';
import { MACHINE_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { DeprecatedApi, Machine, MachineSet } from '../../../api/generated/types.ts';
import { install, installation } from '../../../api/install/install.ts';
import { ANNOTATION_INSTALLED, CONTROLLERS_LEASE, MANAGER_HOSTING, NAMESPACE } from '../../../api/names.ts';
import { API_VERSION } from '../../../api/version.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import { NAMESPACES } from '../../../kube/objects/core-kinds.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import { setNewest } from '../../../os/newest.ts';
import type { ApiServerMember, OutsideAddress } from '../drivers/driver.ts';
import { HostingError } from '../errors.ts';
import { runCanary } from '../execute/canary.ts';
import { publishAuthorities } from '../execute/publish-authorities.ts';
import { writeEndpoint } from '../execute/publish-endpoint.ts';
import { runTokenCanary } from '../execute/token-canary.ts';
import { withClient } from './client.ts';
import { type ClusterClients, readClients } from './clients.ts';
import { deprecatedApis } from './deprecated-apis.ts';
import { type EndpointReport, readOutsideEndpoint } from './endpoint.ts';
import { readPublished } from './published.ts';

export interface InsideReport {
  /** Whether our kinds, roles and policies of this version are installed. */
  readonly isInstalled: boolean;
  /** Whether a process of our controllers holds their Lease. */
  readonly controllersLead: boolean;
  /** The names of all Machines. */
  readonly machines: readonly string[];
  /** The names of MachineSets that want machines. */
  readonly machineSets: readonly string[];
  /** The document of the authorities that is published. Undefined: none, or something that is not of this format. */
  readonly authorities?: SignedAuthorities;
  /** The endpoint of the Service `kubernetes` for pods of other machines. Undefined: none. */
  readonly endpoint?: EndpointReport;
  /** The APIs that clients use, and that a later version removes. Undefined: none, or not read yet. */
  readonly deprecatedApis?: readonly DeprecatedApi[];
}

/** Whether a write, a read and a watch work, or why not, and at which API server of several. */
export type CanaryReport = 'Passed' | { readonly problem: string; readonly member?: ApiServerMember };

export interface ExpectedCanary {
  /** The ID of the key that a new token has to be signed by. Undefined: none is asked for. */
  readonly tokenKeyId?: string | undefined;
}

export interface ClusterInside {
  /** Rejects when the API server does not answer. */
  read(kubeconfig: string, signal: AbortSignal): Promise<InsideReport>;
  /** Writes an object, reads it, watches its change and deletes it. It rejects only when the signal aborts. */
  canary(kubeconfig: string, signal: AbortSignal, expected?: ExpectedCanary): Promise<CanaryReport>;
  /** Rejects when the API server does not answer. */
  clients(kubeconfig: string, signal: AbortSignal): Promise<ClusterClients>;
  install(kubeconfig: string, signal: AbortSignal): Promise<void>;
  /** Publishes the authorities for the agents of the cluster. */
  publish(kubeconfig: string, authorities: SignedAuthorities, signal: AbortSignal): Promise<void>;
  /** Writes the endpoint of the Service `kubernetes` for pods of other machines. Undefined: deletes it. */
  setEndpoint(kubeconfig: string, address: OutsideAddress | undefined, signal: AbortSignal): Promise<void>;
  /** Sets the size of MachineSets to 0. Their controller asks the Defender of that cluster for each machine. */
  scaleDown(kubeconfig: string, machineSets: readonly string[], signal: AbortSignal): Promise<void>;
}

const READ_MS = 10_000;

export function createClusterInside(clock: Clock): ClusterInside {
  const digest = digestOf(installation());
  const readDeprecated = createDeprecatedReader(clock);
  return {
    read: (kubeconfig, signal) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
      return withClient(kubeconfig, clock, async (client) => {
        const report = await readInside(client, digest, within);
        const used = report.isInstalled ? await readDeprecated(client, within) : [];
        return used.length > 0 ? { ...report, deprecatedApis: used } : report;
      });
    },
    canary: async (kubeconfig, signal, { tokenKeyId } = {}) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
      try {
        await withClient(kubeconfig, clock, async (client) => {
          await runCanary(client, within);
          if (tokenKeyId !== undefined) await runTokenCanary(client, tokenKeyId, within);
        });
        return 'Passed';
      } catch (error) {
        signal.throwIfAborted();
        return { problem: messageOf(error) };
      }
    },
    clients: (kubeconfig, signal) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
      return withClient(kubeconfig, clock, (client) => readClients(client, within));
    },
    install: (kubeconfig, signal) =>
      withClient(kubeconfig, clock, (client) => installInside(client, { clock, digest, signal })),
    publish: (kubeconfig, authorities, signal) =>
      withClient(kubeconfig, clock, (client) => publishAuthorities(client, authorities, signal)),
    setEndpoint: (kubeconfig, address, signal) =>
      withClient(kubeconfig, clock, (client) => writeEndpoint(client, address, signal)),
    scaleDown: (kubeconfig, machineSets, signal) =>
      withClient(kubeconfig, clock, async (client) => {
        const body = { spec: { replicas: 0 } };
        for (const name of machineSets) {
          const options = { fieldManager: MANAGER_HOSTING, signal };
          await client.patch(MACHINE_SETS, { name }, { type: 'merge', body }, options);
        }
      }),
  };
}

/** The metrics of an API server have megabytes. */
const METRICS_MS = 600_000;
/** Less than a read may take: a slow answer must not make an API server look silent. */
const METRICS_READ_MS = 4000;
/** The oldest are forgotten when there are more, such as those of control planes that were deleted. */
const MAX_KEPT = 1000;

function createDeprecatedReader(
  clock: Clock,
): (client: Client, signal: AbortSignal) => Promise<readonly DeprecatedApi[]> {
  const kept = new Map<string, { readonly atMs: number; readonly found: readonly DeprecatedApi[] }>();
  return async (client, signal) => {
    const before = kept.get(client.server);
    if (before && clock.monotonicMs() - before.atMs < METRICS_MS) return before.found;
    const within = AbortSignal.any([signal, AbortSignal.timeout(METRICS_READ_MS)]);
    const metrics = await client.raw('/metrics', { signal: within }).catch(() => undefined);
    signal.throwIfAborted();
    const found = typeof metrics === 'string' ? deprecatedApis(metrics) : (before?.found ?? []);
    setNewest(kept, client.server, { atMs: clock.monotonicMs(), found }, MAX_KEPT);
    return found;
  };
}

async function readInside(client: Client, digest: string, signal: AbortSignal): Promise<InsideReport> {
  const namespace = await unlessMissing(client.get(NAMESPACES, { name: NAMESPACE }, { signal }));
  const isInstalled = namespace?.metadata.annotations?.[ANNOTATION_INSTALLED] === digest;
  if (!namespace) return { isInstalled, controllersLead: false, machines: [], machineSets: [] };
  const [published, endpoint, lease, machines, sets] = await Promise.all([
    readPublished(client, signal),
    readOutsideEndpoint(client, signal),
    unlessMissing(client.get(LEASES, CONTROLLERS_LEASE, { signal })),
    listServed<Machine>(client, MACHINES, signal),
    listServed<MachineSet>(client, MACHINE_SETS, signal),
  ]);
  return {
    isInstalled,
    ...optional('authorities', published),
    ...optional('endpoint', endpoint),
    controllersLead: (textAt(lease, 'spec', 'holderIdentity') ?? '') !== '',
    machines: machines.map(({ metadata }) => metadata.name),
    machineSets: sets.filter(wantsMachines).map(({ metadata }) => metadata.name),
  };
}

/** Returns no objects of a kind that is not served: an installation that was interrupted leaves our namespace without our kinds. */
async function listServed<T extends KubeObject>(
  client: Client,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const served = await unlessMissing(client.resourceFor(API_VERSION, resource.kind));
  return served ? (await client.list<T>(resource, { signal })).items : [];
}

function wantsMachines({ spec }: MachineSet): boolean {
  return (spec.replicas ?? 0) > 0;
}

interface InstallParts {
  readonly clock: Clock;
  readonly digest: string;
  readonly signal: AbortSignal;
}

/** The annotation is written last, so that it never marks a partial installation. */
async function installInside(client: Client, { clock, digest, signal }: InstallParts): Promise<void> {
  const results = await install(client, { clock, signal });
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (failed.length > 0) {
    const [{ object, error } = { object: undefined, error: undefined }] = failed;
    const what = `${object?.kind} ${object?.metadata.name}`;
    throw new HostingError(
      'InstallFailed',
      `${failed.length} objects could not be installed, first ${what}: ${error?.message}`,
      { where: client.server, hint: 'nothing to do: hosting tries again', cause: error },
    );
  }
  const metadata = { name: NAMESPACE, annotations: { [ANNOTATION_INSTALLED]: digest } };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await client.apply(NAMESPACES, namespace, { fieldManager: MANAGER_HOSTING, force: true, signal });
}
