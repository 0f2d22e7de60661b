/** From nowhere to a control plane's programs, by the shortest road that is open. */

import type { Clock } from '../kube/clock.ts';
import { type Binaries, builtFolder, cachedBinaries, releaseFolder, userBinaries } from './binaries.ts';
import type { Program } from './commands.ts';
import { LocalError } from './errors.ts';
import { cacheFolder, type Environment } from './folders.ts';
import { platformOf } from './platform.ts';
import { sourceDigest } from './source.ts';

export interface ObtainOptions {
  readonly env: Environment;
  readonly wanted: readonly Program[];
  /** --kube-assets: goes before KUBEBUILDER_ASSETS. */
  readonly assets?: string | undefined;
  readonly tell?: (step: string) => void;
  readonly clock?: Clock;
  readonly signal?: AbortSignal | undefined;
}

export async function obtainBinaries({ env, wanted, assets }: ObtainOptions): Promise<Binaries> {
  if (assets) return await userBinaries(assets, wanted, '--kube-assets');
  const fromEnvironment = env['KUBEBUILDER_ASSETS'];
  if (fromEnvironment) return await userBinaries(fromEnvironment, wanted, 'KUBEBUILDER_ASSETS');

  const platform = platformOf(process);
  const cache = cacheFolder(env);
  const built = builtFolder(cache, platform, await sourceDigest());
  const cached = await cachedBinaries([releaseFolder(cache, platform), built], wanted);
  if (cached) return cached;
  throw new LocalError('NoBinaries', 'no control plane programs');
}
