/** From nowhere to a control plane's programs, by the shortest road that is open. */
import type { Clock } from '../../os/clock.ts';
import type { OsError } from '../../os/errors.ts';
import { withLock } from '../../os/lock.ts';
import { isLocalError, LocalError, type LocalErrorCode, toLocalError } from '../errors.ts';
import { cacheFolder, type Environment } from '../folders.ts';
import type { Program } from '../processes/commands.ts';
import { type Binaries, builtFolder, cachedBinaries, releaseFolder, userBinaries } from './binaries.ts';
import { buildBinaries, hasGo } from './go-build.ts';
import { type Host, type Platform, platformOf } from './platform.ts';
import { downloadRelease } from './release.ts';
import { sourceDigest } from './source-digest.ts';

export interface ObtainOptions {
  readonly env: Environment;
  readonly wanted: readonly Program[];
  /** --kube-assets: goes before KUBEBUILDER_ASSETS. */
  readonly assets?: string | undefined;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly tell: (step: string) => void;
  /** For tests; default: this machine, our own sources, patience for a slow network. */
  readonly host?: Host;
  readonly source?: string;
  readonly silenceMs?: number;
  readonly pauseMs?: number;
}

export async function obtainBinaries(options: ObtainOptions): Promise<Binaries> {
  try {
    return await obtain(options);
  } catch (error) {
    throw toLocalError(error);
  }
}

async function obtain(options: ObtainOptions): Promise<Binaries> {
  const { env, wanted, assets, tell, signal, host = process } = options;
  const platform = platformOf(host);
  if (assets) return await userBinaries(assets, wanted, '--kube-assets');
  const fromEnvironment = env['KUBEBUILDER_ASSETS'];
  if (fromEnvironment) return await userBinaries(fromEnvironment, wanted, 'KUBEBUILDER_ASSETS');

  const cache = cacheFolder(env);
  const present = await inCache(cache, platform, options);
  if (present) return present;
  const waiting = (holder: string): void =>
    tell(`waiting for another kubenode that gets the programs (${holder})`);
  return await withLock(cache, { signal, waiting }, async () => {
    // Whoever held the lock may have brought what we want.
    return (await inCache(cache, platform, options)) ?? (await getAnew(cache, platform, options));
  });
}

async function inCache(
  cache: string,
  platform: Platform,
  { wanted, source }: ObtainOptions,
): Promise<Binaries | undefined> {
  const built = builtFolder(cache, platform, await sourceDigest(source));
  return await cachedBinaries([releaseFolder(cache, platform), built], wanted);
}

async function getAnew(cache: string, platform: Platform, options: ObtainOptions): Promise<Binaries> {
  const request = { ...options, cache, platform };
  try {
    options.tell('downloading the control plane');
    return await downloadRelease(request);
  } catch (error) {
    // Only a network that does not carry it is a reason to build: a wrong checksum or a full disk is not mended so.
    if (!isLocalError(error, 'Download')) throw error;
    if (!(await hasGo(options.env))) throw noWay(error, options.wanted);
    options.tell(`${error.message}; building it instead`);
    return await buildBinaries(request);
  }
}

function noWay(error: OsError<LocalErrorCode>, wanted: readonly Program[]): LocalError {
  return new LocalError('NoBinaries', `the programs of a control plane are not here: ${error.message}`, {
    where: error.where ?? '',
    hint: `one of these: connect to the internet; install Go (https://go.dev/dl) and repeat the command; or name a folder with ${wanted.join(', ')} in KUBEBUILDER_ASSETS or --kube-assets`,
    cause: error,
  });
}
