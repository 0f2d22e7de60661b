/** Where the programs of a control plane are. `obtainBinaries` finds or gets them. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalError } from '../errors.ts';
import type { Program } from '../processes/commands.ts';
import { readEntry } from './cache.ts';
import type { Platform } from './platform.ts';
import { KUBERNETES_VERSION } from './versions.ts';

export interface Binaries {
  readonly folder: string;
  /** Where they came from, for people: a folder of the user's, the cache, a release, a build. */
  readonly origin: string;
}

export function programIn({ folder }: Binaries): (name: Program) => string {
  return (name) => join(folder, name);
}

/** A folder that the user named: used as it is, and complained about when it lacks something. */
export async function userBinaries(
  folder: string,
  wanted: readonly Program[],
  named: string,
): Promise<Binaries> {
  const missing: string[] = [];
  for (const name of wanted) {
    const usable = await access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!usable) missing.push(name);
  }
  if (missing.length === 0) return { folder, origin: named };
  throw new LocalError('NoBinaries', `${named} names a folder without ${missing.join(', ')}`, {
    where: folder,
    hint: `put them there, or leave ${named} out and let kubenode get them`,
  });
}

/** Of the ways to have come by them, the official release goes first. */
export async function cachedBinaries(
  folders: readonly string[],
  wanted: readonly Program[],
): Promise<Binaries | undefined> {
  for (const folder of folders) {
    const names = await readEntry(folder);
    if (names && wanted.every((name) => names.has(name))) return { folder, origin: `cache (${folder})` };
  }
  return undefined;
}

export function releaseFolder(cache: string, platform: Platform): string {
  return join(cache, 'kube', `${KUBERNETES_VERSION}-${platform.name}-release`);
}

/** With the digest of the sources, so that another go.mod is another build. */
export function builtFolder(cache: string, platform: Platform, sourceDigest: string): string {
  return join(cache, 'kube', `${KUBERNETES_VERSION}-${platform.name}-built-${sourceDigest.slice(0, 12)}`);
}
