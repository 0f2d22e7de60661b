/** Runs a program that ends with the work that it is for, and with this process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { isEndpointReady, type ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { type Command, childEnvironment } from '../../../../../os/process/child.ts';
import { endWithParent } from '../../../../../os/worker/child-prefix.ts';

export interface ThrowAway {
  readonly command: Command;
  /** It answers when the program is ready. */
  readonly ready: ProbeEndpoint;
  readonly clock: Clock;
  /** Describes what failed when the program does not start. */
  readonly failure: string;
  /** Ends it before the work is done. */
  readonly signal?: AbortSignal | undefined;
}

/** A large database is read into memory at the start. */
const OPEN_MS = 120_000;
const POLL_MS = 100;
const MAX_OUTPUT = 600;

export async function withThrowAway<T>(
  { command: { program, args }, ready, clock, failure, signal }: ThrowAway,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const [first = program, ...rest] = [...endWithParent(), program, ...args];
  const child = spawn(first, rest, { stdio: ['ignore', 'ignore', 'pipe'], env: childEnvironment() });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = `${output}${text}`.slice(-MAX_OUTPUT);
  });
  const ended = once(child, 'close').catch((error: unknown) => {
    output = String(error);
  });
  try {
    const answers = async (): Promise<boolean> => hasEnded(child) || (await isEndpointReady(ready));
    const deadlineMs = clock.monotonicMs() + OPEN_MS;
    const isReady = await pollUntil(answers, { clock, everyMs: POLL_MS, deadlineMs, signal });
    if (!isReady || hasEnded(child)) throw new Error(`${failure}: ${output.trim()}`);
    const result = await work();
    signal?.throwIfAborted();
    return result;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}
