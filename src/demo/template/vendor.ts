/**
 * Packs the kubenode that runs, so that a new repository depends on this very version without a package registry that has it:
 * an installed package is packed as it is, a checkout is built in a copy, because other programs may be using it.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../../cli/errors.ts';
import type { RunNpm } from './npm.ts';

/** The paths that the build of a checkout reads, besides the files of the package. */
const BUILD_INPUTS = [
  'src',
  'scripts',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'README.md',
  'LICENSE',
];

export interface PackedKubenode {
  /** The path of the tarball: `…/kubenode-1.2.3.tgz`. */
  readonly tarball: string;
  [Symbol.dispose](): void;
}

export async function packKubenode(packageRoot: string, npm: RunNpm): Promise<PackedKubenode> {
  const folder = mkdtempSync(join(tmpdir(), 'kubenode-pack-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    if (isCheckout(packageRoot)) {
      copyCheckout(packageRoot, folder);
      await npm(folder, 'pack', '--pack-destination', folder);
    } else await npm(folder, 'pack', packageRoot, '--ignore-scripts', '--pack-destination', folder);
    const name = readdirSync(folder).find((each) => each.endsWith('.tgz'));
    if (!name) throw new CliError(`npm pack failed: expected a tarball in ${folder}, got none`);
    return { tarball: join(folder, name), [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Tells whether the folder is a checkout: the package contains only emitted JavaScript. */
function isCheckout(packageRoot: string): boolean {
  return existsSync(join(packageRoot, 'src', 'cli', 'main.ts'));
}

/** Lists the files and folders that decide what the tarball contains, as paths in that folder. */
export function packageParts(packageRoot: string): readonly string[] {
  const { files } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    files: string[];
  };
  if (!isCheckout(packageRoot)) return [...files, 'package.json'];
  return [...new Set([...files, ...BUILD_INPUTS])].filter((name) => name !== 'dist');
}

function copyCheckout(packageRoot: string, folder: string): void {
  for (const part of packageParts(packageRoot)) {
    cpSync(join(packageRoot, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
}
