/**
 * Caches renders by their inputs. An entry contains its key and the digest of its bytes, so that one that was truncated, changed
 * or renamed is ignored.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from '../../kube/objects/digest.ts';

/** Everything that affects the result of a render. The lock file is part of the tree. */
export interface RenderInputs {
  /** Git tree of the commit. */
  readonly tree: string;
  readonly path: string;
  readonly toolchain: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface RenderCache {
  readonly folder: string;
  /** Whether there is an entry, which may be damaged. */
  has(inputs: RenderInputs): boolean;
  /** Reads an entry. Undefined when it is missing or damaged: then the commit is rendered again. */
  get(inputs: RenderInputs): Promise<Buffer | undefined>;
  put(inputs: RenderInputs, bytes: Buffer): Promise<void>;
}

const FORMAT = 'kubenode-render-1';

// Enough for commits in promotion, commits that a revert may return to, and plans. An entry has a few megabytes at most.
const MAX_ENTRIES = 100;

export function createRenderCache(folder: string, maxEntries = MAX_ENTRIES): RenderCache {
  return { folder, has: (inputs) => existsSync(pathOf(digestOf(inputs))), get, put };

  async function get(inputs: RenderInputs): Promise<Buffer | undefined> {
    const key = digestOf(inputs);
    const path = pathOf(key);
    const entry = await readFile(path).catch(() => undefined);
    if (!entry) return undefined;
    const end = entry.indexOf('\n');
    const bytes = entry.subarray(end + 1);
    if (end > 0 && entry.toString('latin1', 0, end) === header(key, bytes)) return bytes;
    await rm(path, { force: true });
    return undefined;
  }

  async function put(inputs: RenderInputs, bytes: Buffer): Promise<void> {
    const key = digestOf(inputs);
    await mkdir(folder, { recursive: true });
    const temporary = join(folder, `.${randomUUID()}`);
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.write(`${header(key, bytes)}\n`);
        await file.write(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, pathOf(key));
    } finally {
      await rm(temporary, { force: true });
    }
    await removeOldest();
  }

  async function removeOldest(): Promise<void> {
    const names = await readdir(folder);
    if (names.length <= maxEntries) return;
    const ages = await Promise.all(
      names.map(async (name) => ({ name, modifiedMs: await modifiedMs(join(folder, name)) })),
    );
    const oldest = ages.toSorted((a, b) => a.modifiedMs - b.modifiedMs).slice(0, names.length - maxEntries);
    for (const { name } of oldest) await rm(join(folder, name), { force: true });
  }

  function pathOf(key: string): string {
    return join(folder, key.replace('sha256:', ''));
  }
}

/** 0 when another process has removed the file. */
async function modifiedMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}

function header(key: string, bytes: Buffer): string {
  return `${FORMAT} ${key} sha256:${createHash('sha256').update(key).update(bytes).digest('hex')}`;
}
