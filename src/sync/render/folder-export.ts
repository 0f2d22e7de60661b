/**
 * Copies a working tree for a render: the files of a next commit, which git tracks or does not ignore. A render reads only this
 * copy. As in the export of a commit, symbolic links and submodules are skipped: a link could lead out of the tree, and a
 * pull request could print files of the machine that renders it.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { byCode } from '../../kube/objects/digest.ts';
import { gitArguments, gitEnvironment, runGit } from '../git/command/process.ts';
import { EXPORT_LIMITS, exportTooLarge } from '../git/export.ts';
import type { ExportLimits, TreeFile } from '../git/transport.ts';

export interface SkippedFile {
  readonly path: string;
  readonly because: string;
}

const LINK = 'a symbolic link: a render contains no links';
const SUBMODULE = 'a submodule or a git repository of its own';
const SPECIAL = 'neither a file nor a folder';

/** Lists the files that the export of a commit skips. */
export function skippedFiles(files: readonly TreeFile[]): SkippedFile[] {
  return files.flatMap(({ path, type }) => {
    if (type === 'symlink') return { path, because: LINK };
    return type === 'submodule' ? { path, because: SUBMODULE } : [];
  });
}

/** Copies the working tree. Returns what was skipped, sorted by path. */
export async function exportFolder(
  source: string,
  target: string,
  limits: Pick<ExportLimits, 'maxFiles' | 'maxBytes'> = EXPORT_LIMITS,
): Promise<readonly SkippedFile[]> {
  // The folder itself may be a link: a person has named it.
  const root = await realpath(source);
  const paths = await listFiles(root, limits.maxFiles);
  const links = createLinkFinder(root);
  const skipped = new Map<string, string>();
  let bytesLeft = limits.maxBytes;
  for (const path of paths) {
    const link = await links.above(path);
    const content = link === undefined ? await readRegular(join(root, path)) : LINK;
    if (typeof content === 'string') skipped.set(link ?? path, content);
    if (!(content instanceof Buffer)) continue;
    bytesLeft -= content.byteLength;
    if (bytesLeft < 0) throw exportTooLarge('bytes', limits.maxBytes - bytesLeft, limits.maxBytes);
    await mkdir(dirname(join(target, path)), { recursive: true });
    await writeFile(join(target, path), content, { flag: 'wx', mode: 0o644 });
  }
  return [...skipped].map(([path, because]) => ({ path, because }));
}

async function listFiles(root: string, maxFiles: number): Promise<string[]> {
  const paths = (await listWithGit(root)) ?? (await listFolder(root));
  if (paths.length > maxFiles) throw exportTooLarge('files', paths.length, maxFiles);
  return paths;
}

const LIST = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];

/** Lists the files with git. Undefined outside of a repository, and where git is missing or refuses to read it. */
async function listWithGit(root: string): Promise<string[] | undefined> {
  const command = {
    args: gitArguments(undefined, ['-C', root, ...LIST]),
    env: gitEnvironment('/'),
    timeoutMs: EXPORT_LIMITS.timeoutMs,
  };
  const output = await runGit(command).catch(() => undefined);
  if (output?.code !== 0) return undefined;
  const paths = output.stdout.split('\0').filter((path) => path !== '');
  return [...new Set(paths.map((path) => path.replace(/\/$/, '')))].toSorted(byCode);
}

/** Folders that git does not list in a new repository: its own folder, and installed packages, which are never committed. */
const NOT_LISTED = ['.git', 'node_modules'];

async function listFolder(root: string): Promise<string[]> {
  const found: string[] = [];
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !NOT_LISTED.includes(entry.name)) pending.push(path);
      else if (!entry.isDirectory()) found.push(path);
    }
    if (found.length > EXPORT_LIMITS.maxFiles) break;
  }
  return found.toSorted(byCode);
}

/**
 * Reads a regular file. A string is the reason why the file is skipped. Undefined when it does not exist: git lists deleted files
 * as well.
 */
async function readRegular(path: string): Promise<Buffer | string | undefined> {
  try {
    const entry = await lstat(path);
    if (entry.isSymbolicLink()) return LINK;
    if (entry.isDirectory()) return SUBMODULE;
    if (!entry.isFile()) return SPECIAL;
    // NOFOLLOW: it may have become a link since then.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates a finder of the links above a file: git lists files below a folder that has been replaced by a link. */
function createLinkFinder(root: string): { above(path: string): Promise<string | undefined> } {
  const links = new Map<string, Promise<string | undefined>>();
  return { above };

  async function above(path: string): Promise<string | undefined> {
    const folder = dirname(path);
    if (folder === '.') return undefined;
    const known = links.get(folder) ?? find(folder);
    links.set(folder, known);
    return known;
  }

  async function find(folder: string): Promise<string | undefined> {
    const higher = await above(folder);
    if (higher !== undefined) return higher;
    const entry = await lstat(join(root, folder)).catch(() => undefined);
    return entry?.isSymbolicLink() ? folder : undefined;
  }
}
