/**
 * The live objects with owner labels: one watch for each kind, while git or the inventory names the kind. The answers to our
 * own writes go into the same stores, so that a reconcile always sees its own writes.
 */
import { createTransform, type Transform } from '../../../kube/cache/trim.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { ObjectId } from '../../../kube/objects/object-id.ts';
import { otherManagers } from '../ownership/field-owners.ts';
import { createCrdWatch } from './crd-watch.ts';
import { createKindWatch, type KindWatch, type KindWatchOptions } from './kind-watch.ts';
import { kindKey } from './kinds.ts';
import type { KindRef, LiveCache } from './ports.ts';

/** `onChange`: an object in the cluster changed, through us or through others. */
export type LiveCacheOptions = Omit<KindWatchOptions, 'crds' | 'transform' | 'closing'>;

export function createLiveCache(options: LiveCacheOptions): LiveCache {
  const kinds = new Map<string, KindWatch>();
  const closing = new AbortController();
  const transform = createLiveTransform();
  const crds = createCrdWatch({ ...options, onChange: retryDefined });

  return {
    async watch(refs, signal) {
      await stopUnused(refs);
      await Promise.all(refs.map((ref) => watchOf(ref).start(signal)));
    },
    get,
    owned: () => [...kinds.values()].flatMap((kind) => kind.list()),
    recordApplied: (object) => kinds.get(kindKey(object))?.wrote(transform(object)),
    // The watch reports the deletion too; until then the object must not look present.
    recordDeleted(id) {
      const known = get(id);
      if (typeof known !== 'object') return;
      // Otherwise somebody created it again, and the watch was ahead of the answer.
      if ((id.uid ?? known.metadata.uid) === known.metadata.uid) kinds.get(keyOfId(id))?.deleted(known);
    },
    retryUnserved() {
      for (const kind of kinds.values()) kind.retryUnserved();
    },
    retryNow() {
      for (const kind of kinds.values()) kind.retryNow();
    },
    hold(refs) {
      const releases = refs.map((ref) => kinds.get(kindKey(ref))?.hold());
      return () => {
        for (const release of releases) release?.();
      };
    },
    unknownReason: (id) => kinds.get(keyOfId(id))?.unknownReason(),
    staleReason: () =>
      [...kinds.values()]
        .filter((kind) => !kind.unserved && !kind.isUnreadable())
        .map((kind) => kind.unknownReason())
        .find(Boolean),
    readError: () => [...kinds.values()].map((kind) => kind.readError()).find(Boolean),
    isInterrupted: () => [...kinds.values()].some((kind) => kind.isInterrupted()),
    async close() {
      closing.abort();
      await Promise.all([crds.ended, ...[...kinds.values()].map((kind) => kind.stop())]);
    },
  };

  async function stopUnused(refs: readonly KindRef[]): Promise<void> {
    const used = new Map(refs.map((ref) => [kindKey(ref), ref.apiVersion]));
    // In another version the watch starts again: the server may not serve the former one any more.
    const unused = [...kinds].filter(([key, { ref }]) => used.get(key) !== ref.apiVersion);
    for (const [key] of unused) kinds.delete(key);
    await Promise.all(unused.map(([, kind]) => kind.stop()));
  }

  function watchOf(ref: KindRef): KindWatch {
    const key = kindKey(ref);
    const watch =
      kinds.get(key) ?? createKindWatch(ref, { ...options, crds, transform, closing: closing.signal });
    kinds.set(key, watch);
    return watch;
  }

  function get(id: ObjectId): ReturnType<LiveCache['get']> {
    const { name, namespace } = id;
    return kinds.get(keyOfId(id))?.get(namespace ? { name, namespace } : { name }) ?? 'unknown';
  }

  /** A CRD appeared that defines a kind which was not served before. */
  function retryDefined(): void {
    const defined = [...kinds.values()].filter(({ unserved, ref }) => unserved && crds.defines(ref));
    for (const kind of defined) kind.retryUnserved();
    if (defined.length > 0) options.onChange();
  }
}

/** Keeps of the large managedFields only what others own of the object, which is little: it shows who changed a field. */
function createLiveTransform(): Transform<KubeObject> {
  const trim = createTransform();
  return (object) => {
    const managedFields = otherManagers(object);
    const trimmed = trim(object);
    if (managedFields.length > 0) Object.assign(trimmed.metadata, { managedFields });
    return trimmed;
  };
}

function keyOfId({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): string {
  return `${group}/${kind}`;
}
