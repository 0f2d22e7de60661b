/** The files of the page, as they were built. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { OsError } from '../../os/errors.ts';
import type { PageFile } from './server.ts';

/** `src/console/server` in a checkout and `dist/console/server` in the package have the same depth. */
export const PAGE_FOLDER = new URL('../../../dist/bundles/console/', import.meta.url);

const FILES: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
};

/** By path. Kept in memory: a build during a run does not mix two versions. */
export async function readPageFiles(folder: URL = PAGE_FOLDER): Promise<ReadonlyMap<string, PageFile>> {
  const entries = Object.entries(FILES).map(async ([path, [name, type]]) => {
    const content = await readPageFile(new URL(name, folder));
    return [path, { type, content }] as const;
  });
  return new Map(await Promise.all(entries));
}

async function readPageFile(url: URL): Promise<Buffer> {
  try {
    return await readFile(url);
  } catch (error) {
    throw new OsError('BadInput', 'the page of the console is not built', {
      where: fileURLToPath(url),
      hint: 'build it: npm run bundle:console',
      cause: error,
    });
  }
}
