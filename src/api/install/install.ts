/**
 * Installs CRDs, namespaces, roles and policies by server-side apply. Checks the cluster first: if the server is too old,
 * or has a CRD that must not be replaced, nothing is written.
 */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../kube/client/errors.ts';
import { nameOf } from '../../kube/client/paths.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import { MANAGER_INSTALL } from '../names.ts';
import { installation } from './installation.ts';
import { isCrd, isPolicy, resourceOf } from './objects.ts';
import {
  type Change,
  type CustomResourceDefinition,
  changeOf,
  crdRefusalReason,
  type ServerVersion,
  versionRefusalReason,
} from './plan.ts';
import { notServedReason, type WaitOptions, waitUntilInForce } from './ready.ts';

export { crds } from './crds.ts';
export { installation } from './installation.ts';

export interface InstallOptions {
  readonly clock: Clock;
  /** The server validates everything and stores nothing. */
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly objects?: readonly KubeObject[];
  readonly signal?: AbortSignal;
  /** Time limit for new kinds to be served. */
  readonly establishMs?: number;
  /** Called after each object. */
  readonly progress?: (result: InstalledObject, done: number, total: number) => void;
}

export interface InstalledObject {
  readonly object: KubeObject;
  /** `deleted`: an earlier version had installed it. */
  readonly outcome: Change | 'deleted' | 'failed';
  readonly error?: Error;
}

/** kubenode cannot be installed in this cluster. Nothing was written. */
export class InstallRefused extends Error {
  override readonly name = 'InstallRefused';
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('\n'));
    this.reasons = reasons;
  }
}

/** A server needs about a second. After a minute something is wrong. */
const ESTABLISH_MS = 60_000;

/** Returns one result for each object, in order. A failed object does not stop the others. */
export async function install(client: Client, options: InstallOptions): Promise<readonly InstalledObject[]> {
  const objects = options.objects ?? installation();
  const live = await checkCluster(client, objects.filter(isCrd), options);
  const run: Run = { client, options, total: objects.length, live, pending: new Set(), results: [] };
  // Objects of a kind can be written only once the kind is served.
  const split = objects.findLastIndex(isCrd) + 1;
  for (const object of objects.slice(0, split)) await step(run, object);
  if (options.dryRun !== true) await waitUntilServed(run);
  for (const object of objects.slice(split)) await step(run, object);
  if (options.dryRun !== true && isComplete(run) && objects.some(isPolicy)) {
    await waitUntilInForce(client, waitOptionsOf(options));
  }
  return run.results;
}

interface Run {
  readonly client: Client;
  readonly options: InstallOptions;
  readonly total: number;
  /** The live CRDs, which are large and therefore read once. */
  readonly live: ReadonlyMap<KubeObject, KubeObject | undefined>;
  /** Namespaces and kinds that a dry run would have created. NotFound is expected for objects in them. */
  readonly pending: Set<string>;
  readonly results: InstalledObject[];
}

async function step(run: Run, object: KubeObject): Promise<void> {
  const result = await attempt(run, object);
  if (result.outcome === 'created') for (const place of containersCreatedBy(object)) run.pending.add(place);
  run.results.push(result);
  run.options.progress?.(result, run.results.length, run.total);
}

/** The kind of a CRD, or the name of a Namespace. */
function containersCreatedBy(object: KubeObject): readonly string[] {
  if (isCrd(object)) return [object.spec.names.kind];
  return object.kind === 'Namespace' ? [object.metadata.name] : [];
}

async function attempt(run: Run, object: KubeObject): Promise<InstalledObject> {
  const { client, options } = run;
  try {
    const before = run.live.has(object) ? run.live.get(object) : await read(client, object, options);
    if (before !== undefined && isCreateOnly(object)) return { object, outcome: 'unchanged' };
    return { object, outcome: changeOf(before, await write(client, object, options)) };
  } catch (error) {
    if (isFatal(error)) throw error;
    return isMissingInDryRun(run, object, error)
      ? { object, outcome: 'created' }
      : { object, outcome: 'failed', error: asError(error) };
  }
}

/** For a path that is not served the server returns no API object: BadAnswer. */
function isMissingInDryRun(
  { options, pending }: Run,
  { kind, metadata }: KubeObject,
  error: unknown,
): boolean {
  const place = metadata.namespace ?? kind;
  return options.dryRun === true && isKubeError(error, 'NotFound', 'BadAnswer') && pending.has(place);
}

function write(client: Client, object: KubeObject, options: InstallOptions): Promise<KubeObject> {
  const { dryRun = false, fieldManager = MANAGER_INSTALL } = options;
  const how = { fieldManager, dryRun, ...callOptions(options) };
  if (isCreateOnly(object)) return client.create(resourceOf(object), object, how);
  // Forced: kubenode owns these objects. Otherwise a field of another manager would block every upgrade.
  return client.apply(resourceOf(object), object, { ...how, force: true });
}

/** The Defender owns the ledger: an installation creates it and never writes it again. */
function isCreateOnly({ kind }: KubeObject): boolean {
  return kind === 'DefenderLedger';
}

async function checkCluster(
  client: Client,
  declared: readonly CustomResourceDefinition[],
  options: InstallOptions,
): Promise<ReadonlyMap<KubeObject, KubeObject | undefined>> {
  const version = (await client.raw('/version', callOptions(options))) as ServerVersion;
  const reason = versionRefusalReason(client.server, version);
  if (reason !== undefined) throw new InstallRefused([reason]);
  const live = await Promise.all(
    declared.map(async (crd) => [crd, await read(client, crd, options)] as const),
  );
  const reasons = live.flatMap(([crd, current]) => (current && crdRefusalReason(crd, current)) ?? []);
  if (reasons.length > 0) throw new InstallRefused(reasons);
  return new Map(live);
}

async function waitUntilServed({ client, options, results }: Run): Promise<void> {
  const waitOptions = waitOptionsOf(options);
  for (const [index, { object, outcome }] of results.entries()) {
    if (!isCrd(object) || outcome === 'failed') continue;
    const because = await notServedReason(client, object, waitOptions);
    if (because === undefined) continue;
    const error = new Error(`CRD ${object.metadata.name}: ${because}`);
    results[index] = { object, outcome: 'failed', error };
  }
  client.forgetResources();
}

function waitOptionsOf({ clock, signal, establishMs = ESTABLISH_MS }: InstallOptions): WaitOptions {
  const waitOptions = { clock, end: clock.monotonicMs() + establishMs };
  return signal === undefined ? waitOptions : { ...waitOptions, signal };
}

function isComplete({ results }: Run): boolean {
  return results.every(({ outcome }) => outcome !== 'failed');
}

async function read<T extends KubeObject>(
  client: Client,
  object: T,
  options: InstallOptions,
): Promise<T | undefined> {
  return await unlessMissing(client.get<T>(resourceOf(object), nameOf(object), callOptions(options)));
}

/** Errors that every further object would cause too. */
function isFatal(error: unknown): boolean {
  return isKubeError(error, 'Unreachable', 'Timeout', 'Aborted', 'Unauthorized', 'Credentials', 'Config');
}

function callOptions({ signal }: InstallOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
