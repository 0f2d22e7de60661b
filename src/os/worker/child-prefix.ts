/**
 * Builds commands that are put in front of another one, so that the kernel limits the child or ends it. They are empty where they do not
 * work.
 */
import { spawnSync } from 'node:child_process';

/** Returns a prefix with which the child is killed when this process ends, however it ends, and whatever the child does then. */
export function endWithParent(): readonly string[] {
  return ifSupported(['setpriv', '--pdeathsig', 'KILL', '--']);
}

/** The memory that Node 26 reserves and does not use, and that counts as data: 561 MiB in a program that does nothing. */
const RESERVED_MIB = 576;

export interface ChildLimits {
  /** The limit of the data that Node uses; files that are mapped do not count. */
  readonly memoryMiB: number;
  /** A child that exceeds it ends by SIGXCPU. */
  readonly cpuSeconds?: number | undefined;
}

/** Returns a prefix that limits a child. A child may raise its own limits, so this is for our own programs. */
export function limitChild({ memoryMiB, cpuSeconds }: ChildLimits): readonly string[] {
  const cpu = cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:`];
  return ifSupported(['prlimit', `--data=${(RESERVED_MIB + memoryMiB) * 1024 * 1024}:`, ...cpu, '--']);
}

/** Holds for each program whether it works here: what a machine supports does not change while we run. */
const supported = new Map<string, boolean>();

function ifSupported(command: readonly [string, ...string[]]): readonly string[] {
  const [program, ...args] = command;
  const works =
    supported.get(program) ?? spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0;
  supported.set(program, works);
  return works ? command : [];
}
