/** Reads what the next step is decided on: the Cluster and the Secret in the hub, the members, and the cluster itself. */

import { CLUSTERS, DEFENDER_POLICIES } from '../../api/generated/resources.ts';
import type { Cluster, DefenderPolicy } from '../../api/generated/types.ts';
import type { GrantPort } from '../../api/grants.ts';
import {
  ANNOTATION_WRITTEN_AT,
  KILL_SWITCH,
  kubeconfigSecret,
  LABEL_CLUSTER,
  NAMESPACE,
} from '../../api/names.ts';
import { stopText } from '../../api/status/pauses.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { messageOf } from '../../os/errors.ts';
import type { AddonTarget, ClusterAddons } from './addons/report.ts';
import {
  API_SERVERS,
  type ApiServerMember,
  isApiServer,
  type PlaneAccess,
  type PlaneDriver,
  type PlaneReport,
  type PlaneSpec,
} from './drivers/driver.ts';
import { isRotationOver } from './drivers/rotation.ts';
import { HostingError } from './errors.ts';
import { heldGrant } from './execute/permission.ts';
import type { ChangeTurn } from './execute/turn.ts';
import type { UpkeepRuns } from './execute/upkeep.ts';
import type { CanaryReport, ClusterInside, ExpectedCanary } from './inside/execute.ts';
import { isApiServing } from './plan/api-servers/serving.ts';
import type { Hosted, HostingInput } from './plan/input.ts';
import { planeOf } from './plan/plane-of.ts';
import { isRotationMoving } from './plan/rotation/state.ts';
import { controllersElsewhere } from './plan/upgrade/controllers.ts';

export interface HostingPorts {
  readonly grants: GrantPort;
  /** The driver of processes. Undefined: this hosting starts none. */
  readonly driver?: PlaneDriver | undefined;
  /** The driver of pods. Undefined: this hosting was started without images. */
  readonly workload?: PlaneDriver | undefined;
  readonly inside: ClusterInside;
  readonly addons: ClusterAddons;
  /** How many control planes this hosting creates. */
  readonly maxClusters: number;
  /** How long a throw-away cluster may exist at most, in seconds. */
  readonly maxAgeSeconds: number;
}

/** The ports with what this process remembers. */
export interface HostingParts extends HostingPorts {
  readonly upkeep: UpkeepRuns;
  readonly turn: ChangeTurn;
}

export interface HostingObservation {
  readonly input: HostingInput;
  readonly plane: PlaneSpec;
  readonly access: PlaneAccess | undefined;
  readonly driver: PlaneDriver;
}

export async function observeHosting(
  cluster: Cluster,
  hosted: Hosted,
  ports: HostingParts,
  context: ReconcileContext,
): Promise<HostingObservation> {
  const { upkeep, maxClusters, maxAgeSeconds } = ports;
  const { signal } = context;
  const driver = driverOf(ports, hosted, cluster.metadata.name);
  const plane = planeOf(cluster, hosted);
  // Before the files are read: what has ended since then is in them.
  const running = upkeep.find(plane);
  const report = await driver.observe(plane, signal);
  const access = await driver.access(plane);
  const input: HostingInput = {
    cluster,
    hosted,
    plane: report,
    isRestartedByHub: hosted.driver === 'workload',
    ...(access && isApiServing({ plane: report })
      ? await askServing(ports, { plane, access, hosted, signal, cluster, report })
      : { inside: undefined }),
    ...secretState(cluster.metadata.name, access, context),
    overLimit: overLimit(cluster, maxClusters, context),
    maxAgeSeconds,
    elsewhere: controllersElsewhere(cluster.metadata.name, context.view<Cluster>(CLUSTERS).list()),
    grant: heldGrant(cluster.metadata.name, context),
    halt: haltOf(context),
    ...optional('upkeep', running),
    now: context.clock.now(),
  };
  return { input, plane, access, driver };
}

/** Throws where this hosting was started without what the driver needs. */
function driverOf({ driver, workload }: HostingPorts, hosted: Hosted, where: string): PlaneDriver {
  const found = hosted.driver === 'process' ? driver : workload;
  if (found) return found;
  const hint =
    hosted.driver === 'process'
      ? 'start it without --no-processes, on a machine of its own'
      : 'start it with --images and a file of images';
  const message = `this hosting was not started for driver ${hosted.driver}`;
  throw new HostingError('DriverNotConfigured', message, { where, hint });
}

interface InsideCall {
  readonly plane: PlaneSpec;
  readonly access: PlaneAccess;
  readonly hosted: Hosted;
  readonly signal: AbortSignal;
}

type Asked = 'inside' | 'addons' | 'addonsSilence' | 'silence' | 'canary' | 'clients';

async function askServing(
  ports: HostingPorts,
  call: InsideCall & { readonly cluster: Cluster; readonly report: PlaneReport },
): Promise<Pick<HostingInput, Asked>> {
  const { access, hosted, signal, cluster, report } = call;
  const isWatched = isChanging(cluster) || isRotationMoving({ plane: report, hosted });
  return {
    ...(await askInside(ports, call)),
    ...(isWatched ? { canary: await runCanaries(ports.inside, { access, report, signal }) } : {}),
    ...(isRotating(hosted, report) ? { clients: await readClients(ports.inside, access, signal) } : {}),
  };
}

async function askInside(
  { inside, addons }: HostingPorts,
  { plane: owner, access, hosted, signal }: InsideCall,
): Promise<Pick<HostingInput, 'inside' | 'addons' | 'addonsSilence' | 'silence'>> {
  const kubeconfig = access.admin;
  try {
    const report = await inside.read(kubeconfig, signal);
    if (!report.isInstalled) return { inside: report };
    const target = { owner, kubeconfig, declared: hosted.addons, signal };
    return { inside: report, ...(await readAddons(addons, target)) };
  } catch (error) {
    signal.throwIfAborted();
    return { inside: undefined, silence: messageOf(error) };
  }
}

/** A cluster whose add-ons cannot be read is served as any other. */
async function readAddons(
  addons: ClusterAddons,
  target: AddonTarget,
): Promise<Pick<HostingInput, 'addons' | 'addonsSilence'>> {
  try {
    return { addons: await addons.read(target) };
  } catch (error) {
    target.signal.throwIfAborted();
    return { addonsSilence: messageOf(error) };
  }
}

/** Each run writes a few objects, so that it is asked only while a gate depends on it. */
function isChanging({ status }: Cluster): boolean {
  return status?.hosted?.upgrade !== undefined;
}

interface CanaryCall {
  readonly access: PlaneAccess;
  readonly report: PlaneReport;
  readonly signal: AbortSignal;
}

/** Asks each API server by its own address, one after the other, as they write the same object. The members tell which one does not answer. */
async function runCanaries(
  inside: ClusterInside,
  { access: { admin, apiServers }, report, signal }: CanaryCall,
): Promise<CanaryReport> {
  if (!apiServers) return await inside.canary(admin, signal, expectedCanary(report, API_SERVERS[0]));
  for (const { member, state } of report.members) {
    if (!isApiServer(member) || state !== 'Ready') continue;
    const own = apiServers.find((each) => each.member === member);
    if (!own) return { member, problem: `${member}: its pod has no address` };
    const found = await inside.canary(own.admin, signal, expectedCanary(report, member));
    if (found !== 'Passed') return { member, problem: `${member}: ${found.problem}` };
  }
  return 'Passed';
}

/**
 * An API server that was started again in the phase signs by the key of the phase. Its file may have been that of the phase before when it read it, which no
 * proof by certificates shows: both phases trust the same authorities.
 */
function expectedCanary({ rotation }: PlaneReport, member: ApiServerMember): ExpectedCanary {
  const isStarted = rotation?.isApplied === true && !rotation.behind.includes(member);
  return isStarted && !isRotationOver(rotation) ? { tokenKeyId: rotation.tokenKeyId } : {};
}

/** Lists of all Nodes and tokens are read only for a rotation that is not over. */
function isRotating({ pki: { caRotation } }: Hosted, { rotation }: PlaneReport): boolean {
  if (rotation && !isRotationOver(rotation)) return true;
  return caRotation?.target === 'Prepare' && rotation?.id !== caRotation.id;
}

/** Clients that cannot be read are unknown, and a rotation waits for them. */
async function readClients(
  inside: ClusterInside,
  { admin }: PlaneAccess,
  signal: AbortSignal,
): Promise<HostingInput['clients']> {
  try {
    return await inside.clients(admin, signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function secretState(
  cluster: string,
  access: PlaneAccess | undefined,
  context: ReconcileContext,
): Pick<HostingInput, 'secret' | 'secretWrittenAt'> {
  const secret: KubeObject | undefined = context
    .view(SECRETS)
    .get(`${NAMESPACE}/${kubeconfigSecret(cluster)}`);
  if (!secret) return { secret: 'Absent' };
  if (secret.metadata.labels?.[LABEL_CLUSTER] !== cluster) return { secret: 'Foreign' };
  const found = textAt(secret, 'data', 'kubeconfig');
  const isCurrent = access && found === Buffer.from(access.sync).toString('base64');
  const writtenAt = secret.metadata.annotations?.[ANNOTATION_WRITTEN_AT];
  return {
    secret: isCurrent ? 'Current' : 'Differs',
    ...optional('secretWrittenAt', writtenAt === undefined ? undefined : new Date(writtenAt)),
  };
}

/** The oldest are within the limit, so that a new one never takes the place of one that exists. */
function overLimit(cluster: Cluster, maxClusters: number, context: ReconcileContext): string | undefined {
  const { name } = cluster.metadata;
  const hosted = context
    .view<Cluster>(CLUSTERS)
    .list()
    .filter(({ spec }) => spec.hosted?.driver === cluster.spec.hosted?.driver);
  const order = hosted.map(orderOf).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  if (order.findIndex((each) => each.name === name) < maxClusters) return undefined;
  return `this hub hosts ${hosted.length - 1} other control planes, and at most ${maxClusters} are allowed: delete one, or start hosting with a larger --max-clusters`;
}

function orderOf({ metadata }: Cluster): { readonly name: string; readonly key: string } {
  return { name: metadata.name, key: `${metadata.creationTimestamp ?? ''} ${metadata.name}` };
}

/** Returns who engaged the kill switch of the hub, and why. */
function haltOf(context: ReconcileContext): string | undefined {
  const policy = context.view<DefenderPolicy>(DEFENDER_POLICIES).get(KILL_SWITCH);
  return policy && stopText(policy.spec.killSwitch, ['All'], context.clock.now());
}
