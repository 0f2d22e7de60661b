/** A real kubelet of the minor version before that of the control plane: the version that tests upgrade from. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCacheEntry, writeCacheEntry } from '../../../src/local/binaries/cache.ts';
import { detectPlatform } from '../../../src/local/binaries/platform.ts';
import { digestSource, SOURCE_FILES } from '../../../src/local/binaries/source-digest.ts';
import { cacheFolder } from '../../../src/local/folders.ts';
import { withLock } from '../../../src/os/lock.ts';
import { findProgram, run } from './shell.ts';

export const OLDER_KUBELET_VERSION = 'v1.35.4';

const SOURCE = fileURLToPath(new URL('./older-kubelet', import.meta.url));
const PROGRAM = 'kubelet';
/** With an empty build cache and one free core. */
const BUILD_MS = 60 * 60_000;

/** Path of the program. Built once for each machine, which takes minutes of CPU. */
export async function olderKubelet(): Promise<string> {
  const folder = await cacheEntry();
  return await withLock(folder, {}, async () => {
    if (!(await readCacheEntry(folder))?.has(PROGRAM)) await build(folder);
    return join(folder, PROGRAM);
  });
}

/** Why this machine has none and cannot build one. */
export async function noOlderKubeletReason(): Promise<string | undefined> {
  if (findProgram('go') || (await readCacheEntry(await cacheEntry()))?.has(PROGRAM)) return undefined;
  return `the kubelet ${OLDER_KUBELET_VERSION} is built with Go: install it (https://go.dev/dl)`;
}

async function cacheEntry(): Promise<string> {
  const digest = (await digestSource(SOURCE)).slice(0, 12);
  const name = `kubelet-${OLDER_KUBELET_VERSION}-${detectPlatform(process).name}-built-${digest}`;
  return join(cacheFolder(process.env), 'kube', name);
}

async function build(folder: string): Promise<void> {
  process.stderr.write(`building kubelet ${OLDER_KUBELET_VERSION} with go build: ${folder}\n`);
  await writeCacheEntry(folder, 'go build', async (temporary) => {
    const module = await mkdtemp(join(temporary, '.build-'));
    try {
      for (const name of SOURCE_FILES) await copyFile(join(SOURCE, name), join(module, name));
      const output = join(temporary, PROGRAM);
      const settings = ['CGO_ENABLED=0', 'GOFLAGS=-mod=readonly', 'GOWORK=off'];
      const go = ['go', 'build', '-C', module, '-trimpath', '-ldflags', ldflags(), '-o', output, '.'];
      await run('nice', ['-n', '15', 'env', ...settings, ...go], BUILD_MS);
    } finally {
      await rm(module, { recursive: true, force: true });
    }
  });
}

/** Without these it reports v0.0.0. */
function ldflags(): string {
  const [major, minor] = OLDER_KUBELET_VERSION.slice(1).split('.');
  const values = { gitVersion: OLDER_KUBELET_VERSION, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).flatMap(([name, value]) =>
    ['component-base', 'client-go/pkg'].map((path) => `-X k8s.io/${path}/version.${name}=${value}`),
  );
  return ['-s', '-w', ...settings].join(' ');
}
