import { fileURLToPath } from 'node:url';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
/** The file of this command line, for processes that run another command of it. */
export const OWN_PROGRAM = fileURLToPath(new URL(`./main.${EXTENSION}`, import.meta.url));
/** The file of the balancer before several API servers. */
export const BALANCER_PROGRAM = fileURLToPath(new URL(`./programs/balancer.${EXTENSION}`, import.meta.url));

/** They tell Node where it keeps compiled code, and whether it finds a file again when both were moved. */
const COMPILED_CODE = ['NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_PORTABLE'] as const;

/** Returns what such a process needs of the environment of this one: without compiled code, a start takes more than twice the CPU time. */
export function ownProgramEnv(env: Readonly<NodeJS.ProcessEnv>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    COMPILED_CODE.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
}
