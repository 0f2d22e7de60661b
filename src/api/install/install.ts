/**
 * Puts kinds, namespaces, roles and policies into a cluster by server-side apply. Looks first: when the server
 * is too old, or a CRD there is not one that we may replace, nothing is written at all.
 */
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
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
  crdObjection,
  type ServerVersion,
  versionObjection,
} from './plan.ts';
import { notServed, type Patience, untilInForce } from './ready.ts';

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

/** One result an object, in order; `failed` carries its error, and the others are tried all the same. */
export async function install(client: Client, options: InstallOptions): Promise<readonly Installed[]> {
  const objects = options.objects ?? installation();
  const seen = await refuseUnfit(client, objects.filter(isCrd), options);
  const run: Run = { client, options, total: objects.length, seen, promised: new Set(), results: [] };
  // Objects of a kind can be written when the kind is served, and not a moment before.
  const split = objects.findLastIndex(isCrd) + 1;
  for (const object of objects.slice(0, split)) await step(run, object);
  if (options.dryRun !== true) await untilServed(run);
  for (const object of objects.slice(split)) await step(run, object);
  if (options.dryRun !== true && isWhole(run) && objects.some(isPolicy)) {
    await untilInForce(client, patienceOf(options));
  }
  return run.results;
}

interface Run {
  readonly client: Client;
  readonly options: InstallOptions;
  readonly total: number;
  /** CRDs as they were found; they are large, and not read twice. */
  readonly seen: ReadonlyMap<KubeObject, KubeObject | undefined>;
  /** Namespaces and kinds that a dry run would have made: what needs them is not found, and that is no error. */
  readonly promised: Set<string>;
  readonly results: Installed[];
}

async function step(run: Run, object: KubeObject): Promise<void> {
  const result = await attempt(run, object);
  if (result.outcome === 'created') for (const place of placesMadeBy(object)) run.promised.add(place);
  run.results.push(result);
  run.options.progress?.(result, run.results.length, run.total);
}

/** Its namespace, or its kind. */
function placesMadeBy(object: KubeObject): readonly string[] {
  if (isCrd(object)) return [object.spec.names.kind];
  return object.kind === 'Namespace' ? [object.metadata.name] : [];
}

async function attempt(run: Run, object: KubeObject): Promise<Installed> {
  const { client, options } = run;
  try {
    const before = run.seen.has(object) ? run.seen.get(object) : await read(client, object, options);
    if (before !== undefined && isOnlyBegun(object)) return { object, outcome: 'unchanged' };
    return { object, outcome: changeOf(before, await write(client, object, options)) };
  } catch (error) {
    if (isHopeless(error)) throw error;
    return isPromised(run, object, error)
      ? { object, outcome: 'created' }
      : { object, outcome: 'failed', error: asError(error) };
  }
}

/** A path that is not served is answered by no API object: BadAnswer. */
function isPromised({ options, promised }: Run, { kind, metadata }: KubeObject, error: unknown): boolean {
  const place = metadata.namespace ?? kind;
  return options.dryRun === true && isKubeError(error, 'NotFound', 'BadAnswer') && promised.has(place);
}

function write(client: Client, object: KubeObject, options: InstallOptions): Promise<KubeObject> {
  const { dryRun = false, fieldManager = MANAGER_INSTALL } = options;
  const how = { fieldManager, dryRun, ...callOptions(options) };
  if (isOnlyBegun(object)) return client.create(resourceOf(object), object, how);
  // Forced: these objects are ours, and a field that somebody else holds would keep an upgrade out for ever.
  return client.apply(resourceOf(object), object, { ...how, force: true });
}

/** The ledger lives on by itself: an installation makes the first one, and never touches it again. */
function isOnlyBegun({ kind }: KubeObject): boolean {
  return kind === 'DefenderLedger';
}

async function refuseUnfit(
  client: Client,
  wanted: readonly CustomResourceDefinition[],
  options: InstallOptions,
): Promise<ReadonlyMap<KubeObject, KubeObject | undefined>> {
  const version = (await client.raw('/version', callOptions(options))) as ServerVersion;
  const objection = versionObjection(client.server, version);
  if (objection !== undefined) throw new InstallRefused([objection]);
  const seen = await Promise.all(wanted.map(async (crd) => [crd, await read(client, crd, options)] as const));
  const objections = seen.flatMap(([crd, live]) => (live && crdObjection(crd, live)) ?? []);
  if (objections.length > 0) throw new InstallRefused(objections);
  return new Map(seen);
}

async function untilServed({ client, options, results }: Run): Promise<void> {
  const patience = patienceOf(options);
  for (const [index, { object, outcome }] of results.entries()) {
    if (!isCrd(object) || outcome === 'failed') continue;
    const because = await notServed(client, object, patience);
    if (because === undefined) continue;
    const error = new Error(`CRD ${object.metadata.name}: ${because}`);
    results[index] = { object, outcome: 'failed', error };
  }
  client.forgetResources();
}

function patienceOf({ clock, signal, establishMs = ESTABLISH_MS }: InstallOptions): Patience {
  const patience = { clock, end: clock.monotonicMs() + establishMs };
  return signal === undefined ? patience : { ...patience, signal };
}

function isWhole({ results }: Run): boolean {
  return results.every(({ outcome }) => outcome !== 'failed');
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

function callOptions({ signal }: InstallOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
