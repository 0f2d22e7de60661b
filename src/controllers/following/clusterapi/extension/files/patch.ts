/** Computes the patch by which the files of a bootstrap config become those that are desired, entry by entry: it names no other field. Pure. */
import type { JsonPatchOperation } from '../../../../../kube/controller/writes/declared-fields.ts';
import { canonicalJson } from '../../../../../kube/objects/digest.ts';
import { isRecord, valueAt } from '../../../../../kube/objects/json.ts';
import { filesIn } from './kubeadm-files.ts';

/** `root` is the path of the spec of both configs, such as `/spec/template/spec`. */
export function filesPatch(current: unknown, desired: unknown, root: string): readonly JsonPatchOperation[] {
  const [before, after] = [valueAt(current, 'files'), valueAt(desired, 'files')];
  const path = `${root}/files`;
  if (isSame(before, after)) return [];
  if (after === undefined) return [{ op: 'remove', path }];
  if (!Array.isArray(before) || !Array.isArray(after)) return [{ op: 'add', path, value: after }];
  return listPatch(filesIn(current), filesIn(desired), path);
}

function listPatch(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): JsonPatchOperation[] {
  const list = [...before];
  const operations: JsonPatchOperation[] = [];
  for (const [index, value] of after.entries()) {
    if (isSame(list[index], value)) continue;
    const found = list.findIndex((each, at) => at >= index && isSamePath(each, value));
    if (found === index) {
      operations.push({ op: 'replace', path: `${path}/${index}`, value });
      list[index] = value;
      continue;
    }
    if (found > index) {
      operations.push({ op: 'remove', path: `${path}/${found}` });
      list.splice(found, 1);
    }
    operations.push({ op: 'add', path: `${path}/${index}`, value });
    list.splice(index, 0, value);
  }
  for (let last = list.length - 1; last >= after.length; last -= 1) {
    operations.push({ op: 'remove', path: `${path}/${last}` });
  }
  return operations;
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

function isSamePath(a: unknown, b: unknown): boolean {
  return isRecord(a) && isRecord(b) && a['path'] === b['path'];
}
