/** Runs the programs of systemd and reads what they print. */

import { execFile } from 'node:child_process';
import { messageOf } from '../../../os/errors.ts';
import { HostError } from '../errors.ts';

export interface CommandAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Throws a HostError when the program cannot be started. */
export type RunCommand = (argv: readonly string[]) => Promise<CommandAnswer>;

/** Times in UTC and messages in English, whatever the locale of the host is. */
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC', SYSTEMD_COLORS: '0' };
const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;
/** A OneShot may run for an hour, and its start lasts as long. */
const TIMEOUT_MS = 65 * 60_000;

export const runCommand: RunCommand = ([program = '', ...args]) => {
  const { promise, resolve, reject } = Promise.withResolvers<CommandAnswer>();
  const options = {
    encoding: 'utf8',
    env: ENVIRONMENT,
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: TIMEOUT_MS,
  } as const;
  execFile(program, args, options, (error, stdout, stderr) => {
    const exitCode = error === null ? 0 : error.code;
    if (typeof exitCode === 'number') resolve({ exitCode, stdout, stderr });
    else reject(notRun(program, error));
  });
  return promise;
};

function notRun(program: string, cause: unknown): HostError {
  const reason = messageOf(cause);
  return new HostError('NotSupported', `${program} did not run: ${reason}`, {
    where: program,
    hint: 'run the agent on a machine with systemd, or use --host sandbox',
    cause,
  });
}

/** Returns the first line that a program printed about its failure. */
export function failureText({ stderr, exitCode }: CommandAnswer): string {
  const [line = ''] = stderr.split('\n').filter((each) => each.trim() !== '');
  return line === '' ? `exit code ${exitCode}` : line.trim();
}
