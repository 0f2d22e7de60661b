/** Collects the files of a new fleet repository: from the templates, of this computer, and the kubenode that it depends on. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CliError } from '../../cli/errors.ts';
import { toDiskError } from '../../os/files.ts';
import { demoFiles } from './demo.ts';
import { createLockFile } from './lock-file.ts';
import type { RunNpm } from './npm.ts';
import { createScaffold, PACKAGE_ROOT, type ScaffoldOptions, VENDOR_FOLDER } from './scaffold.ts';

/** Maps each path to its content. */
export type RepositoryFiles = ReadonlyMap<string, string | Buffer>;

export async function scaffoldFiles(
  folder: string,
  options: ScaffoldOptions,
): Promise<ReadonlyMap<string, string>> {
  const local = options.content === 'Demo' ? await demoFiles(folder) : [];
  return new Map([...createScaffold(options), ...local]);
}

export interface VendoredFiles {
  readonly files: RepositoryFiles;
  /** The failure that left the repository without a lock file. */
  readonly lockFailed: Error | undefined;
}

/** Adds the tarball, and a lock file where npm can write one. */
export async function vendoredFiles(
  folder: string,
  options: Omit<ScaffoldOptions, 'kubenode'>,
  { tarball, npm }: { readonly tarball: string; readonly npm: RunNpm },
): Promise<VendoredFiles> {
  const path = `${VENDOR_FOLDER}/${basename(tarball)}`;
  const scaffold = await scaffoldFiles(folder, { ...options, kubenode: `file:${path}` });
  const files = new Map<string, string | Buffer>([...scaffold, [path, readFileSync(tarball)]]);
  const packageJson = scaffold.get('package.json') ?? '';
  try {
    const lock = await createLockFile({ packageJson, tarball, npm, packageRoot: PACKAGE_ROOT });
    return { files: files.set('package-lock.json', lock), lockFailed: undefined };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { files, lockFailed: error };
  }
}

export function writeFiles(folder: string, files: RepositoryFiles, flag: 'w' | 'wx'): void {
  try {
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { flag });
    }
  } catch (error) {
    throw toDiskError(error, folder);
  }
}

/** Warns that a new repository has no lock file. */
export function formatLockFailure({ message }: Error): string {
  return `warning: package-lock.json is missing: ${message}
  hint: run npm install in the repository when npm reaches its package registry, and commit package-lock.json: CI needs it
`;
}

/** Makes a valid npm package name of that of the folder. */
export function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' || name === 'kubenode' ? 'my-fleet' : name;
}
