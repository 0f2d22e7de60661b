/**
 * What is seen of the objects that carry the mark of a hub: one watch a kind, begun when the kind is first needed.
 * The answers to our own writes go into the same stores, so that a pass never acts on less than it did itself.
 */

import { groupOf, type ObjectId } from '../../../kube/objects/object-id.ts';
import type { KindRef, LiveCache } from '../ports.ts';
import { createCrdWatch } from './crd-watch.ts';
import { createKindWatch, type KindWatch, type KindWatchOptions } from './kind-watch.ts';

/** `onChange`: something changed in the cluster, by whomever. */
export type LiveCacheOptions = Omit<KindWatchOptions, 'crds' | 'closing'>;

export function createLiveCache(options: LiveCacheOptions): LiveCache {
  const kinds = new Map<string, KindWatch>();
  const closing = new AbortController();
  const crds = createCrdWatch({ ...options, onChange: retryDefined });

  return {
    async watch(refs, signal) {
      await Promise.all(refs.map((ref) => kindOf(ref).start(signal)));
    },
    get,
    recordApplied(object) {
      const { managedFields: _, ...metadata } = object.metadata;
      kinds.get(keyOfKind(object))?.put({ ...object, metadata });
    },
    // The watch tells it too; until then the object must not be seen as still there.
    recordDeleted(id) {
      const seen = get(id);
      if (typeof seen === 'object') kinds.get(keyOfId(id))?.remove(seen);
    },
    retryUnserved() {
      for (const kind of kinds.values()) kind.retryUnserved();
    },
    unknownReason: (id) => kinds.get(keyOfId(id))?.unknownReason(),
    staleReason: () =>
      [...kinds.values()]
        .filter(({ unserved }) => !unserved)
        .map((kind) => kind.unknownReason())
        .find(Boolean),
    async close() {
      closing.abort();
      await Promise.all([crds.ended, ...[...kinds.values()].map(({ ended }) => ended)]);
    },
  };

  function kindOf(ref: KindRef): KindWatch {
    const key = keyOfKind(ref);
    const kind = kinds.get(key) ?? createKindWatch(ref, { ...options, crds, closing: closing.signal });
    kinds.set(key, kind);
    return kind;
  }

  function get(id: ObjectId): ReturnType<LiveCache['get']> {
    const { name, namespace } = id;
    return kinds.get(keyOfId(id))?.get(namespace ? { name, namespace } : { name }) ?? 'unknown';
  }

  /** Somebody defined a kind that was missed. */
  function retryDefined(): void {
    const awaited = [...kinds.values()].filter(({ unserved, ref }) => unserved && crds.defines(ref));
    for (const kind of awaited) kind.retryUnserved();
    if (awaited.length > 0) options.onChange();
  }
}

/** Without the version: an object is the same in each. */
function keyOfKind({ apiVersion, kind }: KindRef): string {
  return `${groupOf(apiVersion)}/${kind}`;
}

function keyOfId({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): string {
  return `${group}/${kind}`;
}
