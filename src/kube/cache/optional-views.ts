/**
 * Watches kinds while the API server serves them. They may be missing, or have the names of our kinds: so they are not among the views that
 * every controller of the process waits for.
 */

import type { Client } from '../client/client.ts';
import { isKubeError } from '../client/errors.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { optional } from '../objects/optional.ts';
import { staleReason } from './freshness.ts';
import type { Freshness } from './reflector.ts';
import { createView, type View, type ViewOptions } from './view.ts';

/** Returns one list for each kind, in their order. */
export type KindLists = readonly (readonly KubeObject[])[];

export interface OptionalViews {
  /** Watches until the returned function is called. `changed` is called after each change of what `read` returns. */
  open(changed: () => void): () => void;
  /** Undefined: they are being listed for the first time. */
  read(): KindLists | { readonly unreadable: string } | undefined;
  /** Reads them from the API server. Rejects if it cannot: what is not read completely is never missing. */
  list(signal: AbortSignal): Promise<KindLists>;
}

export type OptionalViewsOptions = Pick<
  ViewOptions<KubeObject>,
  'clock' | 'log' | 'random' | 'metrics' | 'transform' | 'namespace'
> & {
  readonly client: Client;
  /** The same kinds in each version, the version that is preferred first. */
  readonly versions: readonly (readonly Resource[])[];
  /** Explains that no version is served, and what to do. */
  readonly notServed: string;
  /** Names whose kinds they are, for messages. */
  readonly owner: string;
  readonly forbiddenHint: string;
  readonly found: (version: string) => void;
  /** An error shows neither that the kinds are served nor that they are not. */
  readonly failed: (error: unknown) => void;
};

/** How often the server is asked for the kinds while it does not serve them, with a small request for each kind and version. */
const ABSENT_MS = 15_000;
/** How often the state of the watches is looked at, without a request. */
const CHECK_MS = 5000;
/** A first list that fails is repeated so long before anything is concluded from it. */
const FIRST_LIST_MS = 30_000;

export function createOptionalViews(options: OptionalViewsOptions): OptionalViews {
  const { client, clock, notServed } = options;
  let views: readonly View[] | undefined;
  let absence: string | undefined;
  let openedMs = 0;

  return {
    open(changed) {
      const stop = new AbortController();
      void follow(changed, stop.signal);
      return () => stop.abort();
    },
    read,
    async list(signal) {
      if (!views) throw new Error(absence ?? `the kinds of ${options.owner} are not known yet`);
      const selected = { signal, ...optional('namespace', options.namespace) };
      return await Promise.all(views.map(({ resource }) => listAll(client, resource, selected)));
    },
  };

  function read(): ReturnType<OptionalViews['read']> {
    if (absence !== undefined) return { unreadable: absence };
    if (!views) return undefined;
    const isNew = clock.monotonicMs() - openedMs < FIRST_LIST_MS;
    const unreadable = views
      .map((view) => unreadableReason(view, isNew, options))
      .find((reason) => reason !== undefined);
    if (unreadable !== undefined) return { unreadable };
    return views.every(isListed) ? views.map(({ store }) => store.list()) : undefined;
  }

  /** Never rejects. */
  async function follow(changed: () => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const found = await findKinds(client, options.versions);
        if (found) await watch(found, changed, signal);
        else setAbsence(changed);
      } catch (error) {
        options.failed(error);
      }
      await clock.sleep(ABSENT_MS, signal).catch(() => {}); // the loop checks the signal
    }
  }

  function setAbsence(changed: () => void): void {
    if (absence !== undefined) return;
    absence = notServed;
    changed();
  }

  /** Resolves when the signal ended it, or when the kinds are not served any more. */
  async function watch(kinds: readonly Resource[], changed: () => void, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    const opened = kinds.map((resource) => createView({ ...options, resource }));
    const leave = opened.map(({ store }) =>
      store.subscribe({ added: changed, updated: changed, removed: changed }),
    );
    views = opened;
    [absence, openedMs] = [undefined, clock.monotonicMs()];
    options.found(kinds[0]?.version ?? '');
    const running = opened.map(({ reflector }) => reflector.run(ended));
    await untilNotServed(opened, changed, ended);
    stop.abort();
    for (const each of leave) each();
    await Promise.all(running);
    views = undefined;
    if (!signal.aborted) setAbsence(changed);
  }

  async function untilNotServed(
    opened: readonly View[],
    changed: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    let before: string | undefined;
    while (!signal.aborted && !opened.some(isNotServed)) {
      const now = stateText(read());
      if (now !== before) changed();
      before = now;
      await Promise.race([
        clock.sleep(CHECK_MS, signal).catch(() => {}), // the loop checks the signal
        ...(now === 'Starting' ? [firstList(opened, signal)] : []),
      ]);
    }
  }
}

/** Also an empty list is a state that starts a reconcile. */
async function firstList(opened: readonly View[], signal: AbortSignal): Promise<void> {
  await Promise.all(opened.map(({ reflector }) => reflector.synced(signal).catch(() => {})));
}

function stateText(read: ReturnType<OptionalViews['read']>): string {
  if (read === undefined) return 'Starting';
  return 'unreadable' in read ? read.unreadable : 'Read';
}

/** A list that is not found: the CRD was removed, or this version of it. */
function isNotServed({ reflector }: View): boolean {
  return isKubeError(reflector.freshness().error, 'NotFound');
}

/** The objects of a list are in the store a moment before the list counts as contact. */
function isListed({ reflector }: View): boolean {
  return reflector.freshness().lastContactAt !== undefined;
}

/**
 * Returns why the objects must not be used; undefined before the first answer, too. The text is the same while the cause is: it is written to each
 * machine.
 */
function unreadableReason(
  view: View,
  isNew: boolean,
  { owner, forbiddenHint }: Pick<OptionalViewsOptions, 'owner' | 'forbiddenHint'>,
): string | undefined {
  const { reflector, resource } = view;
  const freshness = reflector.freshness();
  if (!isListed(view) && mayBeListedSoon(freshness, isNew)) return undefined;
  if (staleReason(freshness, resource.kind) === undefined) return undefined;
  const code = freshness.error?.code ?? 'no contact';
  const hint = code === 'Forbidden' ? `. ${forbiddenHint}` : '';
  return `the ${resource.plural} of ${owner} cannot be read: ${code}${hint}`;
}

/** A missing right is reported at once: only a person can grant it. */
function mayBeListedSoon({ error }: Freshness, isNew: boolean): boolean {
  return error === undefined || (isNew && error.code !== 'Forbidden');
}

/** Returns the kinds in the first version that is served; undefined: none is. */
async function findKinds(
  client: Pick<Client, 'resourceFor'>,
  versions: readonly (readonly Resource[])[],
): Promise<readonly Resource[] | undefined> {
  const served = await Promise.all(versions.map((kinds) => isServed(client, kinds)));
  return versions.find((_, index) => served[index]);
}

async function isServed(client: Pick<Client, 'resourceFor'>, kinds: readonly Resource[]): Promise<boolean> {
  try {
    await Promise.all(
      kinds.map(({ group, version, kind }) => client.resourceFor(`${group}/${version}`, kind)),
    );
    return true;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

async function listAll(
  client: Pick<Client, 'pages'>,
  resource: Resource,
  options: { readonly signal: AbortSignal; readonly namespace?: string },
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for await (const { items } of client.pages(resource, options)) found.push(...items);
  return found;
}
