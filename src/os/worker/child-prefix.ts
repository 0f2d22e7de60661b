/** Commands that are put in front of another one, so that the kernel limits the child or ends it. Empty where they do not work. */
import { spawnSync } from 'node:child_process';

/** The child is killed when this process ends, however it ends, and whatever the child does then. */
export function endWithParent(): readonly string[] {
  return ifSupported(['setpriv', '--pdeathsig', 'KILL', '--']);
}

/** What Node 26 reserves and does not use counts as data: 561 MiB in a program that does nothing. */
const RESERVED_MIB = 576;

export interface ChildLimits {
  /** Of data that Node uses; files that are mapped do not count. */
  readonly memoryMiB: number;
  /** A child that exceeds it ends by SIGXCPU. */
  readonly cpuSeconds?: number | undefined;
}

/** A child may raise its own limits: this is for our own programs. */
export function limitChild({ memoryMiB, cpuSeconds }: ChildLimits): readonly string[] {
  const cpu = cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:`];
  return ifSupported(['prlimit', `--data=${(RESERVED_MIB + memoryMiB) * 1024 * 1024}:`, ...cpu, '--']);
}

/** By program: what a machine supports does not change while we run. */
const supported = new Map<string, boolean>();

function ifSupported(command: readonly [string, ...string[]]): readonly string[] {
  const [program, ...args] = command;
  const works =
    supported.get(program) ?? spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0;
  supported.set(program, works);
  return works ? command : [];
}
