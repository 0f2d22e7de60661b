/** Walks history, and knows where its own knowledge ends. */
import { parseCommit } from './http/objects.ts';
import type { ObjectReader } from './transport.ts';

/**
 * Whether `ancestor` lies in the history of `head`. `unknown` when it was not found and the walk met a parent that is not
 * here: at a shallow boundary "not found" says nothing. The commits themselves are read, which name their true parents
 * whatever git's own list of boundaries says.
 */
export async function isAncestor(
  ancestor: string,
  head: string,
  reader: ObjectReader,
): Promise<boolean | 'unknown'> {
  const seen = new Set<string>([head]);
  const queue = [head];
  let boundary = false;
  for (let oid = queue.pop(); oid !== undefined; oid = queue.pop()) {
    if (oid === ancestor) return true;
    const raw = await reader.read(oid);
    if (!raw) {
      boundary = true;
      continue;
    }
    for (const parent of parseCommit(oid, raw).parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      queue.push(parent);
    }
  }
  return boundary ? 'unknown' : false;
}
