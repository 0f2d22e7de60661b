/**
 * What is seen of the objects that carry the mark of a hub: one watch a kind, begun when the kind is first needed.
 * The answers to our own writes go into the same stores, so that a pass never acts on less than it did itself.
 */
import { LABEL_HUB } from '../../api/names.ts';
import type { Client } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { Log } from '../../kube/log.ts';
import { type Reflector, reflector } from '../../kube/reflector.ts';
import { store, type WritableStore } from '../../kube/store.ts';
import { groupOf, type ObjectId } from './identity.ts';
import type { KindRef, Live } from './ports.ts';

export interface LiveOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Something changed that was not our own write. */
  readonly onChange: () => void;
}

/** A quiet watch hears from the server once a minute: after two silent ones it is not believed any more. */
const STALE_MS = 150_000;
const LOOK_AGAIN_MS = 20;

interface Seen {
  readonly ref: KindRef;
  readonly store: WritableStore;
  /** It is not served here, in words for people. */
  blind: string | undefined;
  reflector: Reflector | undefined;
  starting?: Promise<void>;
  readonly ended: Promise<void>[];
}

export function liveView(options: LiveOptions): Live {
  const { client, log } = options;
  const kinds = new Map<string, Seen>();
  const closing = new AbortController();

  return { watch, view, wrote, gone, forgetUnserved, whyUnknown, stale, close };

  async function watch(refs: readonly KindRef[], signal: AbortSignal): Promise<void> {
    await Promise.all(refs.map((ref) => begin(ref, signal)));
  }

  async function begin(ref: KindRef, signal: AbortSignal): Promise<void> {
    const seen = kinds.get(keyOfKind(ref)) ?? newKind(ref);
    if (!seen.reflector && !seen.blind) seen.starting ??= start(seen);
    await seen.starting?.finally(() => delete seen.starting);
    await listedOrRefused(seen, AbortSignal.any([signal, closing.signal]));
  }

  /** A kind that may not be read is unknown, and keeps no other kind waiting. */
  async function listedOrRefused({ reflector: watching }: Seen, signal: AbortSignal): Promise<void> {
    for (
      let look = watching?.freshness();
      look && !look.synced && !look.error;
      look = watching?.freshness()
    ) {
      await options.clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  function newKind(ref: KindRef): Seen {
    const seen: Seen = { ref, store: store({ log }), blind: undefined, reflector: undefined, ended: [] };
    kinds.set(keyOfKind(ref), seen);
    seen.store.subscribe({ added: options.onChange, updated: options.onChange, removed: options.onChange });
    return seen;
  }

  async function start(seen: Seen): Promise<void> {
    try {
      const resource = await client.resourceFor(seen.ref.apiVersion, seen.ref.kind);
      const watching = reflector({ ...options, resource, store: seen.store, labelSelector: LABEL_HUB });
      seen.reflector = watching;
      seen.ended.push(watching.run(closing.signal));
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
      seen.blind = `this cluster does not serve ${seen.ref.kind} of ${seen.ref.apiVersion}`;
    }
  }

  function view(id: ObjectId): ReturnType<Live['view']> {
    const seen = kinds.get(keyOfId(id));
    if (!seen || unseen(seen)) return 'unknown';
    return (
      seen.store.get(id.namespace ? { name: id.name, namespace: id.namespace } : { name: id.name }) ??
      'absent'
    );
  }

  function wrote(object: Parameters<Live['wrote']>[0]): void {
    const { managedFields: _, ...metadata } = object.metadata;
    kinds.get(keyOfKind(object))?.store.put({ ...object, metadata });
  }

  /** The watch tells it too; until then the object must not be seen as still there. */
  function gone(id: ObjectId): void {
    const seen = view(id);
    if (typeof seen === 'object') kinds.get(keyOfId(id))?.store.remove(seen);
  }

  function forgetUnserved(): void {
    for (const seen of kinds.values()) if (seen.blind) seen.blind = undefined;
  }

  function whyUnknown({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): string | undefined {
    const seen = kinds.get(`${group}/${kind}`);
    return seen ? unseen(seen) : 'it has not been looked for yet';
  }

  function stale(): string | undefined {
    return [...kinds.values()]
      .filter(({ blind }) => !blind)
      .map(unseen)
      .find(Boolean);
  }

  async function close(): Promise<void> {
    closing.abort();
    await Promise.all([...kinds.values()].flatMap(({ ended }) => ended));
  }
}

function unseen({ blind, reflector: watching, ref }: Seen): string | undefined {
  if (blind) return blind;
  if (!watching) return `${ref.kind} is not watched yet`;
  const { synced, ageMs, error } = watching.freshness();
  if (!synced) return `${ref.kind} has not been listed yet${error ? `: ${error.message}` : ''}`;
  if (ageMs <= STALE_MS) return undefined;
  return `nothing was heard of ${ref.kind} for ${Math.round(ageMs / 1000)} s${error ? `: ${error.message}` : ''}`;
}

/** Without the version: an object is the same in each. */
function keyOfKind({ apiVersion, kind }: KindRef): string {
  return `${groupOf(apiVersion)}/${kind}`;
}

function keyOfId({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): string {
  return `${group}/${kind}`;
}
