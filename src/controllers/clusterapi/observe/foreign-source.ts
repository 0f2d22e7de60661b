/**
 * Watches the Machines and Clusters of Cluster API while the API server serves them. Their kinds have the names of our kinds, and may be missing: so
 * they are not among the views that every controller of the process waits for.
 */
import { staleReason } from '../../../kube/cache/freshness.ts';
import type { Freshness } from '../../../kube/cache/reflector.ts';
import { createView, type View, type ViewOptions } from '../../../kube/cache/view.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import {
  CLUSTER_API_GROUP,
  CLUSTER_API_VERSIONS,
  foreignCluster,
  foreignMachine,
  trimForeign,
} from '../contract.ts';
import type { FollowInput, ForeignObjects } from '../plan.ts';

export interface ForeignSource {
  /** Watches until the returned function is called. `changed` is called after each change of what `read` returns. */
  open(changed: () => void): () => void;
  /** Undefined: they are being listed for the first time. */
  read(): FollowInput['theirs'] | undefined;
  /** Reads them from the API server. Rejects if it cannot: what is not read completely is never missing. */
  list(signal: AbortSignal): Promise<ForeignObjects>;
}

export interface ForeignSourceOptions
  extends Pick<ViewOptions<KubeObject>, 'clock' | 'log' | 'random' | 'metrics'> {
  readonly client: Client;
}

/** How often the server is asked for the kinds while it does not serve them, with two small requests for each version. */
const ABSENT_MS = 15_000;
/** How often the state of the watches is looked at, without a request. */
const CHECK_MS = 5000;
/** A first list that fails is repeated so long before machines are held for it. */
const FIRST_LIST_MS = 30_000;
const KINDS = [
  ['Machine', 'machines'],
  ['Cluster', 'clusters'],
] as const;

const NOT_SERVED = `the API server does not serve Machines and Clusters of ${CLUSTER_API_GROUP} in ${CLUSTER_API_VERSIONS.join(' or ')}. Install Cluster API, or start without --cluster-api`;
const FORBIDDEN_HINT = 'Run kubenode install --cluster-api';

/** The views of Machines and Clusters. */
type Pair<T> = readonly [machines: T, clusters: T];

export function createForeignSource(options: ForeignSourceOptions): ForeignSource {
  const { client, clock, log } = options;
  let views: Pair<View> | undefined;
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
      if (!views) throw new Error(absence ?? 'the kinds of Cluster API are not known yet');
      const [machines, clusters] = await Promise.all(
        views.map(({ resource }) => listAll(client, resource, signal)),
      );
      return objectsOf([machines ?? [], clusters ?? []]);
    },
  };

  function read(): FollowInput['theirs'] | undefined {
    if (absence !== undefined) return { unreadable: absence };
    if (!views) return undefined;
    const isNew = clock.monotonicMs() - openedMs < FIRST_LIST_MS;
    const unreadable = views
      .map((view) => unreadableReason(view, isNew))
      .find((reason) => reason !== undefined);
    if (unreadable !== undefined) return { unreadable };
    const [machines, clusters] = views;
    return views.every(isListed) ? objectsOf([machines.store.list(), clusters.store.list()]) : undefined;
  }

  /** Never rejects. */
  async function follow(changed: () => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const found = await findKinds(client);
        if (typeof found === 'string') setAbsence(found, changed);
        else await watch(found, changed, signal);
      } catch (error) {
        // An error shows neither that the kinds are served nor that they are not.
        log.warn('cluster api was not looked for', { error });
      }
      await clock.sleep(ABSENT_MS, signal).catch(() => {}); // the loop checks the signal
    }
  }

  function setAbsence(reason: string, changed: () => void): void {
    if (absence === reason) return;
    absence = reason;
    changed();
  }

  /** Resolves when the signal ended it, or when the kinds are not served any more. */
  async function watch(kinds: Pair<Resource>, changed: () => void, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    const opened = kinds.map((resource) => createView({ ...options, resource, transform: trimForeign }));
    const leave = opened.map(({ store }) =>
      store.subscribe({ added: changed, updated: changed, removed: changed }),
    );
    views = [opened[0] as View, opened[1] as View];
    [absence, openedMs] = [undefined, clock.monotonicMs()];
    log.info('cluster api found', { version: kinds[0].version });
    const running = opened.map(({ reflector }) => reflector.run(ended));
    await untilNotServed(views, changed, ended);
    stop.abort();
    for (const each of leave) each();
    await Promise.all(running);
    views = undefined;
    if (!signal.aborted) setAbsence(NOT_SERVED, changed);
  }

  async function untilNotServed(opened: Pair<View>, changed: () => void, signal: AbortSignal): Promise<void> {
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
async function firstList(opened: Pair<View>, signal: AbortSignal): Promise<void> {
  await Promise.all(opened.map(({ reflector }) => reflector.synced(signal).catch(() => {})));
}

function stateText(theirs: FollowInput['theirs'] | undefined): string {
  if (theirs === undefined) return 'Starting';
  return 'unreadable' in theirs ? theirs.unreadable : 'Read';
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
function unreadableReason(view: View, isNew: boolean): string | undefined {
  const { reflector, resource } = view;
  const freshness = reflector.freshness();
  if (!isListed(view) && mayBeListedSoon(freshness, isNew)) return undefined;
  if (staleReason(freshness, resource.kind) === undefined) return undefined;
  const code = freshness.error?.code ?? 'no contact';
  const hint = code === 'Forbidden' ? `. ${FORBIDDEN_HINT}` : '';
  return `the ${resource.plural} of Cluster API cannot be read: ${code}${hint}`;
}

/** A missing right is reported at once: only a person can grant it. */
function mayBeListedSoon({ error }: Freshness, isNew: boolean): boolean {
  return error === undefined || (isNew && error.code !== 'Forbidden');
}

/** Returns the kinds in the first version that is served, or why there are none. */
async function findKinds(client: Pick<Client, 'resourceFor'>): Promise<Pair<Resource> | string> {
  const served = await Promise.all(CLUSTER_API_VERSIONS.map((version) => isServed(client, version)));
  const version = CLUSTER_API_VERSIONS.find((_, index) => served[index]);
  return version === undefined ? NOT_SERVED : kindsOf(version);
}

async function isServed(client: Pick<Client, 'resourceFor'>, version: string): Promise<boolean> {
  try {
    await Promise.all(KINDS.map(([kind]) => client.resourceFor(`${CLUSTER_API_GROUP}/${version}`, kind)));
    return true;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

function kindsOf(version: string): Pair<Resource> {
  const [machines, clusters] = KINDS.map(([kind, plural]) => ({
    group: CLUSTER_API_GROUP,
    version,
    kind,
    plural,
    namespaced: true,
  }));
  return [machines as Resource, clusters as Resource];
}

async function listAll(
  client: Pick<Client, 'pages'>,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for await (const { items } of client.pages(resource, { signal })) found.push(...items);
  return found;
}

function objectsOf([machines, clusters]: Pair<readonly KubeObject[]>): ForeignObjects {
  return { machines: machines.map(foreignMachine), clusters: clusters.map(foreignCluster) };
}
