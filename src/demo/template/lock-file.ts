/** Makes the lock file of a new repository that depends on a tarball of kubenode. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { toDiskError } from '../../os/files.ts';
import type { RunNpm } from './npm.ts';
import { VENDOR_FOLDER } from './scaffold.ts';

export interface LockRequest {
  /** The content of package.json, which names the tarball below `vendor/`. */
  readonly packageJson: string;
  readonly tarball: string;
  readonly npm: RunNpm;
  /** The checkout or the installed package that runs. */
  readonly packageRoot: string;
}

/**
 * npm gets one retry, and a limit on each request: a registry that cannot be reached must not hold up a repository that is complete
 * without the lock file.
 */
const LOCK = [
  'install',
  '--package-lock-only',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--prefer-offline',
].concat('--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=60000');

/** Rejects where npm fails, for example without its package registry. */
export async function createLockFile({
  packageJson,
  tarball,
  npm,
  packageRoot,
}: LockRequest): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-lock-'));
  try {
    writeFileSync(join(folder, 'package.json'), packageJson);
    mkdirSync(join(folder, VENDOR_FOLDER));
    copyFileSync(tarball, join(folder, VENDOR_FOLDER, basename(tarball)));
    const known = knownVersions(packageRoot);
    if (known !== undefined) writeFileSync(join(folder, 'package-lock.json'), known);
    await npm(folder, ...LOCK);
    return await readFile(join(folder, 'package-lock.json'), 'utf8');
  } catch (error) {
    throw toDiskError(error, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Reads the lock file of a checkout, without its root. It has every dependency of kubenode with its checksum, so that npm asks no registry,
 * and removes what the new repository does not need. An installed package has none: npm packs no lock file.
 */
function knownVersions(packageRoot: string): string | undefined {
  const file = join(packageRoot, 'package-lock.json');
  if (!existsSync(file)) return undefined;
  const { packages, ...lock } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly packages: Readonly<Record<string, unknown>>;
  };
  return JSON.stringify({ ...lock, packages: { ...packages, '': {} } });
}
