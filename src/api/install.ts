/**
 * Puts kinds, namespaces, roles and policies into a cluster by server-side apply. Looks first: when the server
 * is too old, or a CRD there is not one that we may replace, nothing is written at all.
 */
import type { Client } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { isKubeError } from '../kube/errors.ts';
import type { KubeObject, ObjectName, Resource } from '../kube/object.ts';
import {
  type Change,
  type Crd,
  changeOf,
  crdObjection,
  crdState,
  type ServerVersion,
  versionObjection,
} from './install/plan.ts';
import { installation } from './installation.ts';
import { MANAGER_INSTALL } from './names.ts';

export { crds, installation } from './installation.ts';

export interface InstallOptions {
  readonly clock: Clock;
  /** The server checks everything and keeps nothing. */
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly objects?: readonly KubeObject[];
  readonly signal?: AbortSignal;
  /** How long new kinds may take until they are served. */
  readonly establishMs?: number;
  /** Called as each object is done. */
  readonly progress?: (result: Installed, done: number, total: number) => void;
}

export interface Installed {
  readonly object: KubeObject;
  readonly outcome: Change | 'failed';
  readonly error?: Error;
}

/** The cluster cannot take this installation. Nothing was written. */
export class InstallRefused extends Error {
  override readonly name = 'InstallRefused';
  readonly objections: readonly string[];

  constructor(objections: readonly string[]) {
    super(objections.join('\n'));
    this.objections = objections;
  }
}

/** Ten seconds are many times what a server needs; a minute is one that is in trouble. */
const ESTABLISH_MS = 60_000;
const POLL_MS = 100;

const CRD = 'CustomResourceDefinition';

/** One result an object, in order; `failed` carries its error, and the others are tried all the same. */
export async function install(client: Client, options: InstallOptions): Promise<readonly Installed[]> {
  const objects = options.objects ?? installation();
  await refuseUnfit(client, objects.filter(isCrd), options);
  const results: Installed[] = [];
  // Dry runs keep nothing, so what stands in a namespace of ours is not found until that is really there.
  const promised = new Set<string>();
  for (const object of objects) {
    const result = await applyOne(client, object, options, promised);
    if (result.outcome === 'created' && object.kind === 'Namespace') promised.add(object.metadata.name);
    results.push(result);
    options.progress?.(result, results.length, objects.length);
  }
  if (options.dryRun === true) return results;
  const unserved = await untilServed(client, results, options);
  client.forgetResources();
  return results.map((result) => unserved.get(result.object) ?? result);
}

async function refuseUnfit(client: Client, wanted: readonly Crd[], options: InstallOptions): Promise<void> {
  const version = (await client.raw('/version', callOptions(options))) as ServerVersion;
  const objection = versionObjection(client.server, version);
  if (objection !== undefined) throw new InstallRefused([objection]);
  const objections: string[] = [];
  for (const crd of wanted) {
    const live = await read(client, crd, options);
    const against = live === undefined ? undefined : crdObjection(crd, live);
    if (against !== undefined) objections.push(against);
  }
  if (objections.length > 0) throw new InstallRefused(objections);
}

async function applyOne(
  client: Client,
  object: KubeObject,
  options: InstallOptions,
  promised: ReadonlySet<string>,
): Promise<Installed> {
  try {
    const before = await read(client, object, options);
    return { object, outcome: changeOf(before, await write(client, object, options)) };
  } catch (error) {
    if (isHopeless(error)) throw error;
    const absent = options.dryRun === true && isKubeError(error, 'NotFound');
    if (absent && promised.has(object.metadata.namespace ?? '')) return { object, outcome: 'created' };
    return { object, outcome: 'failed', error: asError(error) };
  }
}

/** Forced: these objects are ours, and a field that somebody else holds would keep an upgrade out for ever. */
function write(client: Client, object: KubeObject, options: InstallOptions): Promise<KubeObject> {
  const { dryRun = false, fieldManager = MANAGER_INSTALL } = options;
  const how = { fieldManager, force: true, dryRun, ...callOptions(options) };
  return client.apply(resourceOf(object), object, how);
}

/** New kinds are served a moment after they are written; until then nobody can use them. */
async function untilServed(
  client: Client,
  results: readonly Installed[],
  options: InstallOptions,
): Promise<ReadonlyMap<KubeObject, Installed>> {
  const failures = new Map<KubeObject, Installed>();
  const end = options.clock.monotonicMs() + (options.establishMs ?? ESTABLISH_MS);
  for (const { object, outcome } of results) {
    if (!isCrd(object) || outcome === 'failed') continue;
    const because = await notServed(client, object, options, end);
    if (because === undefined) continue;
    failures.set(object, {
      object,
      outcome: 'failed',
      error: new Error(`CRD ${object.metadata.name}: ${because}`),
    });
  }
  return failures;
}

async function notServed(
  client: Client,
  crd: Crd,
  { clock, signal }: InstallOptions,
  end: number,
): Promise<string | undefined> {
  for (;;) {
    const { established, objection } = crdState(await client.get<Crd>(resourceOf(crd), nameOf(crd)));
    if (established || objection !== undefined) return objection;
    if (clock.monotonicMs() >= end) return 'not served yet; look at the conditions in its status';
    await clock.sleep(POLL_MS, signal);
  }
}

async function read<T extends KubeObject>(
  client: Client,
  object: T,
  options: InstallOptions,
): Promise<T | undefined> {
  try {
    return await client.get<T>(resourceOf(object), nameOf(object), callOptions(options));
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** What the next object would meet as well: there is no use in eighty equal errors. */
function isHopeless(error: unknown): boolean {
  return isKubeError(error, 'Unreachable', 'Timeout', 'Aborted', 'Unauthorized', 'Credentials', 'Config');
}

function isCrd(object: KubeObject): object is Crd {
  return object.kind === CRD;
}

function nameOf({ metadata: { name, namespace } }: KubeObject): ObjectName {
  return namespace === undefined ? { name } : { name, namespace };
}

function callOptions({ signal }: InstallOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Only kinds that every API server has, so that no discovery is needed, and none can fail. */
function resourceOf({ apiVersion, kind, metadata }: KubeObject): Resource {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const plural =
    kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : `${kind.toLowerCase()}s`;
  return { group, version, kind, plural, namespaced: metadata.namespace !== undefined };
}
