/**
 * Taints that jobs set: the record of owned keys on the Node has them by the grant, beside those of the Machine. What is not
 * recorded for the grant belongs to others. Pure.
 */
import type { Taint } from '../../../api/generated/types.ts';
import { ANNOTATION_OWNED } from '../../../api/names.ts';
import type { JsonPatchOperation } from '../../../kube/controller/writes/declared-fields.ts';
import { pointerTo } from '../../../kube/controller/writes/json-patch.ts';
import { canonicalJson } from '../../../kube/objects/digest.ts';
import { isRecord, type JsonRecord, listAt, ownValue } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

/** Field of the record: the Machine owns the others. */
const JOBS = 'jobs';

/** Kubernetes detaches volumes and deletes pods of a node with this taint. */
export const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

type TaintState = 'Ours' | 'Foreign' | 'None';

/** Returns the taints of a grant, each as `key:effect`. */
export function jobTaints(node: KubeObject, grant: string): readonly string[] {
  return listAt(recordOn(node), JOBS, grant).map(String);
}

/** Returns the grants under which jobs have set taints. An entry without taints does not count: a kubelet can write the annotation. */
export function taintGrants(node: KubeObject): readonly string[] {
  return Object.keys(jobsOf(recordOn(node))).filter((grant) => jobTaints(node, grant).length > 0);
}

export function taintState(node: KubeObject, taint: Taint, grant: string): TaintState {
  const isPresent = taintsOn(node).some((present) => idOf(present) === idOf(taint));
  if (!isPresent) return 'None';
  return jobTaints(node, grant).includes(idOf(taint)) ? 'Ours' : 'Foreign';
}

/** Plans the addition of a taint that the Node does not have. */
export function planTaint(node: KubeObject, taint: Taint, grant: string): readonly JsonPatchOperation[] {
  const owned = [...new Set([...jobTaints(node, grant), idOf(taint)])];
  return [
    ...recordOperations(node, grant, owned),
    { op: 'add', path: '/spec/taints', value: [...taintsOn(node), taint] },
  ];
}

/** Removes our taints that are named, and nothing of anyone else. */
export function planUntaint(
  node: KubeObject,
  grant: string,
  isNamed: (id: string) => boolean = () => true,
): readonly JsonPatchOperation[] {
  const owned = jobTaints(node, grant);
  const removed = owned.filter(isNamed);
  if (removed.length === 0) return [];
  const left = owned.filter((id) => !removed.includes(id));
  const present = taintsOn(node);
  const kept = present.filter((taint) => !removed.includes(idOf(taint)));
  const record = recordOperations(node, grant, left);
  if (kept.length === present.length) return record;
  return [...record, { op: 'add', path: '/spec/taints', value: kept }];
}

/** Plans that the taints stay, and are a person's from now on: except the one that must not stay on a machine that runs. */
export function planTaintHandOver(node: KubeObject, grant: string): readonly JsonPatchOperation[] {
  const owned = jobTaints(node, grant);
  const kept = owned.filter(isOutOfService);
  return kept.length === owned.length ? [] : recordOperations(node, grant, kept);
}

/** Tells whether a taint, as `key:effect`, is the one that releases pods and volumes. */
export function isOutOfService(id: string): boolean {
  return id.startsWith(`${OUT_OF_SERVICE}:`);
}

function recordOperations(
  node: KubeObject,
  grant: string,
  owned: readonly string[],
): readonly JsonPatchOperation[] {
  const record = recordOn(node);
  const jobs = Object.entries(jobsOf(record)).filter(([id]) => id !== grant);
  const all = owned.length > 0 ? [...jobs, [grant, owned.toSorted()] as const] : jobs;
  const { [JOBS]: _, ...others } = record;
  const value = canonicalJson(all.length > 0 ? { ...others, [JOBS]: Object.fromEntries(all) } : others);
  if (node.metadata.annotations === undefined) {
    return [{ op: 'add', path: '/metadata/annotations', value: { [ANNOTATION_OWNED]: value } }];
  }
  return [{ op: 'add', path: pointerTo('metadata', 'annotations', ANNOTATION_OWNED), value }];
}

function jobsOf(record: JsonRecord): JsonRecord {
  const jobs = record[JOBS];
  return isRecord(jobs) ? jobs : {};
}

/** Reads the record of owned keys. A record that cannot be read owns nothing. */
function recordOn({ metadata }: KubeObject): JsonRecord {
  try {
    const value: unknown = JSON.parse(ownValue(metadata.annotations ?? {}, ANNOTATION_OWNED) ?? '{}');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function taintsOn(node: KubeObject): readonly Taint[] {
  return listAt(node, 'spec', 'taints') as readonly Taint[];
}

function idOf({ key, effect }: Pick<Taint, 'key' | 'effect'>): string {
  return `${key}:${effect}`;
}
