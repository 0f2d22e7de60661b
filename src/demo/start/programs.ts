/** Programs of kubenode that run for as long as a command: started again when they end, and ended with it. */
import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { type BackoffState, backOffAfterError, NO_ERRORS } from '../../kube/process/backoff.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { readLogTail, rotateLog } from '../../os/process/child.ts';
import { systemRandom } from '../../os/system-random.ts';
import { endWithParent } from '../../os/worker/child-prefix.ts';
import { readableLogLine } from './log-line.ts';

export interface FleetProgram {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  /** Default: the folder of this process. */
  readonly cwd?: string;
}

export interface ProgramsOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Each program that ended by itself, with the end of its log. */
  readonly warn: (text: string) => void;
  /** After this time a program that still ends is named. Default: 3 s. */
  readonly quietMs?: number;
}

/** Time to finish what is under way, after SIGTERM. */
const STOP_MS = 20_000;
const RETRY = { firstMs: 1000, longestMs: 30_000, stableMs: 60_000 };

/** Resolves when all of them have ended, after the signal. */
export async function runPrograms(
  programs: readonly FleetProgram[],
  options: ProgramsOptions,
): Promise<void> {
  await Promise.all(programs.map((program) => keepRunning(program, options)));
}

async function keepRunning(program: FleetProgram, options: ProgramsOptions): Promise<void> {
  const { clock, signal, warn } = options;
  let errors: BackoffState = NO_ERRORS;
  while (!signal.aborted) {
    // Without its log, as on a full disk, or when its folder was removed, it is not started: the others run on.
    const how = await runOnce(program, options).catch(
      (error: unknown) => `could not be started (${messageOf(error)})`,
    );
    if (signal.aborted) return;
    errors = backOffAfterError(errors, { atMs: clock.monotonicMs(), random: systemRandom() }, RETRY);
    const seconds = Math.ceil(errors.delayMs / 1000);
    const end = await readLogTail(program.logFile, readableLogLine);
    warn(
      `${program.name} ${how}: starts again in ${seconds} s; the end of its log, ${program.logFile}:\n${end}`,
    );
    await clock.sleep(errors.delayMs, signal).catch(() => undefined);
  }
}

/** Resolves to how it ended. */
async function runOnce(
  { name, command, env, logFile, cwd }: FleetProgram,
  { signal, warn, quietMs = 3000 }: ProgramsOptions,
): Promise<string> {
  await rotateLog(logFile);
  const log = await open(logFile, 'a', 0o600);
  try {
    const [program = '', ...args] = [...endWithParent(), ...command];
    const child = spawn(program, args, { stdio: ['ignore', log.fd, log.fd], env, cwd });
    return await new Promise((resolve) => {
      const timers: NodeJS.Timeout[] = [];
      const onAbort = (): void => {
        child.kill('SIGTERM');
        timers.push(
          setTimeout(
            () => warn(`${name} still finishes what is under way, for ${STOP_MS / 1000} s at most`),
            quietMs,
          ),
          setTimeout(() => child.kill('SIGKILL'), STOP_MS),
        );
      };
      child.once('error', (error) => settle(`could not be started (${error.message})`));
      child.once('exit', (code, end) => settle(end ? `was ended by ${end}` : `ended with exit code ${code}`));
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();

      function settle(how: string): void {
        for (const timer of timers) clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        resolve(how);
      }
    });
  } finally {
    await log.close();
  }
}
