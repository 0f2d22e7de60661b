/** Where things go, by the XDG conventions. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Can be made again at any time. */
export function cacheFolder(env: Environment): string {
  return join(xdg(env['XDG_CACHE_HOME'], env, '.cache'), 'kubenode');
}

/** The clusters themselves: what they hold is gone with it. */
export function stateFolder(env: Environment): string {
  return join(xdg(env['XDG_STATE_HOME'], env, join('.local', 'state')), 'kubenode', 'local');
}

/** The convention says that a relative path is to be ignored. */
function xdg(value: string | undefined, env: Environment, fallback: string): string {
  return value && isAbsolute(value) ? value : join(env['HOME'] || homedir(), fallback);
}
