/** Walks history, and knows where its own knowledge ends. */
import { parseCommit } from './objects.ts';
import type { ObjectReader } from './transport.ts';

export interface World {
  readonly reader: ObjectReader;
  readonly shallow: ReadonlySet<string>;
}

/**
 * Whether `ancestor` lies in the history of `head`. `unknown` when it was not found and the walk met a commit whose parents
 * are not here: at a shallow boundary "not found" says nothing.
 */
export async function isAncestor(ancestor: string, head: string, world: World): Promise<boolean | 'unknown'> {
  const seen = new Set<string>([head]);
  const queue = [head];
  let boundary = false;
  for (let oid = queue.pop(); oid !== undefined; oid = queue.pop()) {
    if (oid === ancestor) return true;
    const raw = await world.reader.read(oid);
    if (!raw || world.shallow.has(oid)) {
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
