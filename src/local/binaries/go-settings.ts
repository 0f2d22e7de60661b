/** The environment of go while it builds the control plane, and the folders that it fills. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalEnvironment } from '../folders.ts';
import type { Platform } from './platform.ts';

/** Holds 4.4 GB after a build: compiled packages 3.3, modules 1.1. Nothing uses them after it. */
function goFolder(cache: string): string {
  return join(cache, 'go');
}

/**
 * Overrides settings that belong to other projects (vendor flag, workspace, platform). Keeps the user's settings for
 * proxies and private modules, which belong to the network, and the folders that the user chose in the environment.
 */
export function goSettings(
  cache: string,
  { goArch }: Platform,
  env: LocalEnvironment,
): Record<string, string> {
  const folder = goFolder(cache);
  return {
    GOCACHE: env['GOCACHE'] || join(folder, 'build'),
    GOMODCACHE: env['GOMODCACHE'] || join(folder, 'modules'),
    // By default go makes the folders of modules read-only, which then only root can remove.
    GOFLAGS: '-mod=readonly -modcacherw',
    GOWORK: 'off',
    GO111MODULE: 'on',
    CGO_ENABLED: '0',
    GOOS: 'linux',
    GOARCH: goArch,
  };
}

/** A build that was interrupted keeps them: the next one continues with what is compiled. */
export async function removeGoFolders(cache: string): Promise<void> {
  await rm(goFolder(cache), { recursive: true, force: true });
}
