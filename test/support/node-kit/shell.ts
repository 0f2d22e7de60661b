/** Runs programs of the host; errors contain their output. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** A program exited with anything but 0. Its output may be useful nevertheless. */
export class ProgramError extends Error {
  readonly stdout: string;

  constructor(what: string, { stdout, stderr }: Output, cause: Error) {
    super(`${what}: ${cause.message}\n${stderr.slice(-2000)}`, { cause });
    this.stdout = stdout;
  }
}

/**
 * A node that shuts down stops all of its processes (SIGSTOP) for a moment. nsenter stops together with its child, but
 * it is outside of the node and does not get the SIGCONT: the dead child is never reaped, and the node waits. So we send it.
 */
const WAKE_MS = 500;

/** Rejects with a ProgramError. */
export function run(program: string, args: readonly string[], timeoutMs = 60_000): Promise<Output> {
  const maxBuffer = 64 * 1024 * 1024;
  const options = { encoding: 'utf8', timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      clearInterval(waking);
      if (error) reject(new ProgramError([program, ...args].join(' '), { stdout, stderr }, error));
      else resolve({ stdout, stderr });
    });
    const waking = setInterval(() => child.kill('SIGCONT'), WAKE_MS);
  });
}

/** Debian has programs for root in folders that are not in the PATH of other users. */
const PLACES = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];

export function findProgram(name: string): string | undefined {
  return PLACES.map((folder) => join(folder, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
