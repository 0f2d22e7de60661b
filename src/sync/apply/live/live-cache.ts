/**
 * What is seen of the objects that carry the mark of a hub: one watch a kind, begun when the kind is first needed.
 * The answers to our own writes go into the same stores, so that a pass never acts on less than it did itself.
 */

import { groupOf, type ObjectId } from '../../../kube/objects/object-id.ts';
import type { KindRef, Live } from '../ports.ts';
import { definitions } from './crd-watch.ts';
import { type KindWatch, type KindWatchOptions, kindWatch } from './kind-watch.ts';

/** `onChange`: something changed in the cluster, by whomever. */
export type LiveOptions = Omit<KindWatchOptions, 'crds' | 'closing'>;

export function liveView(options: LiveOptions): Live {
  const kinds = new Map<string, KindWatch>();
  const closing = new AbortController();
  const crds = definitions({ ...options, onChange: lookAgain });

  return {
    async watch(refs, signal) {
      await Promise.all(refs.map((ref) => kindOf(ref).begin(signal)));
    },
    view,
    wrote(object) {
      const { managedFields: _, ...metadata } = object.metadata;
      kinds.get(keyOfKind(object))?.put({ ...object, metadata });
    },
    // The watch tells it too; until then the object must not be seen as still there.
    gone(id) {
      const seen = view(id);
      if (typeof seen === 'object') kinds.get(keyOfId(id))?.remove(seen);
    },
    forgetUnserved() {
      for (const kind of kinds.values()) kind.forgetUnserved();
    },
    whyUnknown: (id) => kinds.get(keyOfId(id))?.blind(),
    stale: () =>
      [...kinds.values()]
        .filter(({ unserved }) => !unserved)
        .map((kind) => kind.blind())
        .find(Boolean),
    async close() {
      closing.abort();
      await Promise.all([crds.ended, ...[...kinds.values()].map(({ ended }) => ended)]);
    },
  };

  function kindOf(ref: KindRef): KindWatch {
    const key = keyOfKind(ref);
    const kind = kinds.get(key) ?? kindWatch(ref, { ...options, crds, closing: closing.signal });
    kinds.set(key, kind);
    return kind;
  }

  function view(id: ObjectId): ReturnType<Live['view']> {
    const { name, namespace } = id;
    return kinds.get(keyOfId(id))?.view(namespace ? { name, namespace } : { name }) ?? 'unknown';
  }

  /** Somebody defined a kind that was missed. */
  function lookAgain(): void {
    const awaited = [...kinds.values()].filter(({ unserved, ref }) => unserved && crds.defines(ref));
    for (const kind of awaited) kind.forgetUnserved();
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
