/** Ancestry by walking the commits that were fetched. */
import { parseCommit } from './http/objects.ts';
import type { ObjectReader } from './transport.ts';

/**
 * Whether `ancestor` is in the history of `head`. `unknown` when it was not found and a parent is missing locally: beyond a
 * shallow boundary, not found proves nothing. Reads the commits themselves, which name their true parents whatever git's
 * `shallow` file lists.
 */
export async function isAncestor(
  ancestor: string,
  head: string,
  reader: ObjectReader,
): Promise<boolean | 'unknown'> {
  const visited = new Set<string>([head]);
  const queue = [head];
  let isShallow = false;
  for (let oid = queue.pop(); oid !== undefined; oid = queue.pop()) {
    if (oid === ancestor) return true;
    const raw = await reader.read(oid);
    if (!raw) {
      isShallow = true;
      continue;
    }
    for (const parent of parseCommit(oid, raw).parents) {
      if (visited.has(parent)) continue;
      visited.add(parent);
      queue.push(parent);
    }
  }
  return isShallow ? 'unknown' : false;
}
