import { fileURLToPath } from 'node:url';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
/** The file of this command line, for processes that run another command of it. */
export const OWN_PROGRAM = fileURLToPath(new URL(`./main.${EXTENSION}`, import.meta.url));
/** The file of the balancer before several API servers. */
export const BALANCER_PROGRAM = fileURLToPath(new URL(`./programs/balancer.${EXTENSION}`, import.meta.url));

/**
 * Returns what such a process needs of the environment of this one: where Node keeps compiled code, without which a start takes more than
 * twice the CPU time.
 */
export function ownProgramEnv({
  NODE_COMPILE_CACHE: folder,
}: Readonly<NodeJS.ProcessEnv>): Readonly<Record<string, string>> {
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
