/** Runs a program to its end, with limits, in a group of its own. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { childEnvironment, killLeftBehind, killProcessGroup } from '../../os/process/child.ts';
import type { HostProcesses, RunLimits, RunResult } from './port.ts';

export const run: HostProcesses['run'] = (argv, limits) => runProgram(argv, limits);

export interface RunHooks {
  /** Ends the processes that left the group of the program. */
  readonly onTimeout?: () => void;
  /** Takes the stderr of the program, which would be output otherwise. */
  readonly onStderr?: (piece: Buffer) => void;
}

export async function runProgram(
  argv: readonly string[],
  { timeoutMs, maxOutputBytes, onlyStdout = false }: RunLimits,
  { onTimeout, onStderr }: RunHooks = {},
): Promise<RunResult> {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnvironment(),
  });
  const output = collectOutput(maxOutputBytes);
  child.stdout.on('data', (piece: Buffer) => output.add(piece));
  child.stderr.on('data', (piece: Buffer) => {
    if (onStderr) onStderr(piece);
    else if (!onlyStdout) output.add(piece);
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killProcessGroup(child);
    onTimeout?.();
  }, timeoutMs);
  const { promise, resolve } = Promise.withResolvers<Pick<RunResult, 'exitCode' | 'signal'>>();
  child.once('error', (error) => {
    output.add(Buffer.from(error.message));
    resolve({ exitCode: PROGRAM_NOT_FOUND });
  });
  child.once('exit', (code, signal) => {
    // What it started and left behind must not run on, and would keep the pipes open.
    killLeftBehind(child);
    resolve(code === null ? { signal: signal ?? 'unknown' } : { exitCode: code });
  });
  const result = await promise;
  clearTimeout(timer);
  await readToEnd([child.stdout, child.stderr]);
  return { ...result, timedOut, output: output.text(), truncated: output.isTruncated() };
}

/**
 * Reads what a program wrote just before it ended, which is still in its pipes. They do not end while a process holds them that has left
 * the group of the program.
 */
async function readToEnd(pipes: readonly Readable[]): Promise<void> {
  const ends = pipes.map((pipe) => finished(pipe).catch(() => undefined));
  await Promise.race([Promise.all(ends), pause(HELD_PIPE_MS)]);
  // After a delay of this process the time is over before anything was read: what is there is read next.
  await nextTurn();
  for (const pipe of pipes) pipe.destroy();
}

const HELD_PIPE_MS = 250;

/** The exit code with which a shell reports a command that it cannot run. */
export const PROGRAM_NOT_FOUND = 127;

function collectOutput(maxBytes: number): {
  add(piece: Buffer): void;
  text(): string;
  isTruncated(): boolean;
} {
  const pieces: Buffer[] = [];
  let [kept, dropped] = [0, false];
  return {
    add(piece) {
      const part = piece.subarray(0, maxBytes - kept);
      dropped ||= part.length < piece.length;
      kept += part.length;
      if (part.length > 0) pieces.push(part);
    },
    text: () => Buffer.concat(pieces).toString('utf8'),
    isTruncated: () => dropped,
  };
}
