/** Locations of the programs of a control plane. `resolveBinaries` finds, downloads or builds them. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalError } from '../errors.ts';
import type { Program } from '../processes/commands.ts';
import { readCacheEntry } from './cache.ts';
import type { Platform } from './platform.ts';
import { CONTROL_PLANE_VERSION } from './versions.ts';

export interface Binaries {
  readonly folder: string;
  /** Where they came from, for people: a folder of the user, the cache, a release, a build. */
  readonly origin: string;
}

export function createProgramLookup({ folder }: Binaries): (name: Program) => string {
  return (name) => join(folder, name);
}

/** A folder specified by the user: used unchanged; an error if a program is missing. */
export async function checkUserFolder(
  folder: string,
  programs: readonly Program[],
  optionName: string,
): Promise<Binaries> {
  const missing: string[] = [];
  for (const name of programs) {
    const usable = await access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!usable) missing.push(name);
  }
  if (missing.length === 0) return { folder, origin: optionName };
  throw new LocalError(
    'NoBinaries',
    `programs missing in the folder of ${optionName}: ${missing.join(', ')}`,
    {
      where: folder,
      hint: `copy them there, or omit ${optionName} to let kubenode download them`,
    },
  );
}

/** The first of these cache folders that has all programs. */
export async function findCachedBinaries(
  folders: readonly string[],
  programs: readonly Program[],
): Promise<Binaries | undefined> {
  for (const folder of folders) {
    const names = await readCacheEntry(folder);
    if (names && programs.every((name) => names.has(name))) return { folder, origin: `cache (${folder})` };
  }
  return undefined;
}

export function releaseCacheFolder(cache: string, platform: Platform): string {
  return join(cache, 'kube', `${CONTROL_PLANE_VERSION}-${platform.name}-release`);
}

/** Includes the digest of the sources, so that a changed go.mod causes a new build. */
export function buildCacheFolder(cache: string, platform: Platform, sourceDigest: string): string {
  return join(cache, 'kube', `${CONTROL_PLANE_VERSION}-${platform.name}-built-${sourceDigest.slice(0, 12)}`);
}
