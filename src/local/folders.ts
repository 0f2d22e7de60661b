/** Default folders, by the XDG Base Directory Specification. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type LocalEnvironment = Readonly<Record<string, string | undefined>>;

/** Everything in it can be recreated at any time. */
export function cacheFolder(env: LocalEnvironment): string {
  return join(resolveXdgFolder(env['XDG_CACHE_HOME'], env, '.cache'), 'kubenode');
}

/** The data of local clusters. */
export function stateFolder(env: LocalEnvironment): string {
  return join(resolveXdgFolder(env['XDG_STATE_HOME'], env, join('.local', 'state')), 'kubenode', 'local');
}

/** Ignores relative paths, as the specification requires. */
function resolveXdgFolder(value: string | undefined, env: LocalEnvironment, fallback: string): string {
  return value && isAbsolute(value) ? value : join(env['HOME'] || homedir(), fallback);
}
