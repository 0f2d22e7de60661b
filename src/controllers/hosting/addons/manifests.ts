/** Reads the manifests of an add-on, within limits, and puts their objects into order. Pure. */
import { LABEL_ADDON } from '../../../api/names.ts';
import { type Manifest, readManifests } from '../../../kube/objects/manifests.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../kube/objects/object-id.ts';
import { isSopsEncrypted } from '../../../kube/sops/leaves.ts';
import { protectedReason } from './protection.ts';

/** Calico has 30 objects, and the largest operators 200. */
export const MAX_ADDON_OBJECTS = 500;
const MAX_PROBLEMS = 3;

/** Returns the objects in the order in which they are written, or why the file is refused. */
export type AddonObjects = { readonly objects: readonly KubeObject[] } | { readonly problem: string };

export function readAddon(name: string, text: string): AddonObjects {
  const { manifests, problems } = readManifests(text);
  const found = [
    ...problems.map(({ line, message }) => `line ${line}: ${message}`),
    ...manifests.flatMap(manifestProblem),
    ...repeated(manifests),
  ];
  if (found.length > 0) return { problem: problemText(found) };
  if (manifests.length === 0) return { problem: 'the file has no objects' };
  if (manifests.length > MAX_ADDON_OBJECTS) {
    return {
      problem: `the file has ${manifests.length} objects, and at most ${MAX_ADDON_OBJECTS} are allowed`,
    };
  }
  const objects = manifests.map(({ object }) => withLabel(name, object));
  return { objects: objects.toSorted((a, b) => stepOf(a) - stepOf(b)) };
}

function manifestProblem({ object, line }: Manifest): readonly string[] {
  const reason = isSopsEncrypted(object)
    ? 'an encrypted object is not decrypted here'
    : protectedReason(object);
  return reason === undefined ? [] : [`line ${line}: ${objectKey(objectIdOf(object))}: ${reason}`];
}

function repeated(manifests: readonly Manifest[]): readonly string[] {
  const lines = new Map<string, number>();
  return manifests.flatMap(({ object, line }) => {
    const key = objectKey(objectIdOf(object));
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    return first === undefined ? [] : [`line ${line}: ${key} is already in line ${first}`];
  });
}

function problemText(problems: readonly string[]): string {
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  return problems.length > MAX_PROBLEMS ? `${shown}; and ${problems.length - MAX_PROBLEMS} more` : shown;
}

/** Without what the server sets: generators of manifests leave an empty status and a creation time of null. */
function withLabel(name: string, { status: _status, ...object }: KubeObject): KubeObject {
  const { creationTimestamp: _created, ...metadata } = object.metadata;
  const labels = { ...metadata.labels, [LABEL_ADDON]: name };
  return { ...object, metadata: { ...metadata, labels } };
}

/** Namespaces, then CRDs, then everything else as it is in the file. */
function stepOf({ kind }: KubeObject): number {
  if (kind === 'Namespace') return 0;
  return kind === 'CustomResourceDefinition' ? 1 : 2;
}
