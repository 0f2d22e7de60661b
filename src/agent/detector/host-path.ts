/**
 * Files and programs that a configuration names. In a sandbox, the path of what its own component declares begins with the directory
 * of the sandbox already, as in every file of a component. Pure.
 */
import type { Host } from '../host/port.ts';

export function pathInHost({ directory }: Pick<Host, 'directory'>, path: string): string {
  return directory !== '/' && path.startsWith(`${directory}/`) ? path.slice(directory.length) : path;
}

export function pathOnDisk(host: Pick<Host, 'directory'>, path: string): string {
  return host.directory === '/' ? path : `${host.directory}${pathInHost(host, path)}`;
}
