/** Resolves the programs of a control plane: from a folder of the user, the cache, the official release, or a build. */
import type { Clock } from '../../os/clock.ts';
import type { OsError } from '../../os/errors.ts';
import { withLock } from '../../os/lock.ts';
import { isLocalError, LocalError, type LocalErrorCode, toLocalError } from '../errors.ts';
import { cacheFolder, type LocalEnvironment } from '../folders.ts';
import type { Program } from '../processes/commands.ts';
import {
  type Binaries,
  buildCacheFolder,
  checkUserFolder,
  findCachedBinaries,
  releaseCacheFolder,
} from './binaries.ts';
import { buildBinaries, hasGo } from './go-build.ts';
import { detectPlatform, type HostPlatform, type Platform } from './platform.ts';
import { downloadRelease } from './release.ts';
import { digestSource } from './source-digest.ts';

export interface ResolveOptions {
  readonly env: LocalEnvironment;
  readonly programs: readonly Program[];
  /** --kube-assets: takes precedence over KUBEBUILDER_ASSETS. */
  readonly assets?: string | undefined;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly onStep: (step: string) => void;
  /** For tests; default: this machine, the sources of this package, timeouts for a slow network. */
  readonly host?: HostPlatform;
  readonly source?: string;
  readonly silenceMs?: number;
  readonly pauseMs?: number;
}

export async function resolveBinaries(options: ResolveOptions): Promise<Binaries> {
  try {
    return await obtain(options);
  } catch (error) {
    throw toLocalError(error);
  }
}

async function obtain(options: ResolveOptions): Promise<Binaries> {
  const { env, programs, assets, onStep, signal, host = process } = options;
  const platform = detectPlatform(host);
  if (assets) return await checkUserFolder(assets, programs, '--kube-assets');
  const fromEnvironment = env['KUBEBUILDER_ASSETS'];
  if (fromEnvironment) return await checkUserFolder(fromEnvironment, programs, 'KUBEBUILDER_ASSETS');

  const cache = cacheFolder(env);
  const cached = await findInCache(cache, platform, options);
  if (cached) return cached;
  const waiting = (holder: string): void =>
    onStep(`waiting for another kubenode process that downloads the programs (${holder})`);
  return await withLock(cache, { signal, waiting }, async () => {
    // The previous holder of the lock may have filled the cache.
    return (await findInCache(cache, platform, options)) ?? (await downloadOrBuild(cache, platform, options));
  });
}

async function findInCache(
  cache: string,
  platform: Platform,
  { programs, source }: ResolveOptions,
): Promise<Binaries | undefined> {
  const built = buildCacheFolder(cache, platform, await digestSource(source));
  return await findCachedBinaries([releaseCacheFolder(cache, platform), built], programs);
}

async function downloadOrBuild(
  cache: string,
  platform: Platform,
  options: ResolveOptions,
): Promise<Binaries> {
  const request = { ...options, cache, platform };
  try {
    options.onStep('downloading the control plane');
    return await downloadRelease(request);
  } catch (error) {
    // Builds only if the download is not reachable: a build does not fix a wrong checksum or a full disk.
    if (!isLocalError(error, 'Download')) throw error;
    if (!(await hasGo(options.env))) throw createUnavailableError(error, options.programs);
    options.onStep(
      `${error.message}: building the same version from its Go modules instead, once; this takes about five minutes on two cores and 5 GB of disk until it ends`,
    );
    return await buildBinaries(request);
  }
}

function createUnavailableError(error: OsError<LocalErrorCode>, programs: readonly Program[]): LocalError {
  return new LocalError('NoBinaries', `programs of the control plane not available: ${error.message}`, {
    where: error.where ?? '',
    hint: `connect to the internet; or install Go (https://go.dev/dl) and run the command again; or pass a folder with ${programs.join(', ')} with KUBEBUILDER_ASSETS or --kube-assets`,
    cause: error,
  });
}
