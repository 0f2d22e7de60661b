/** Programs of the host, with an error that says what they said. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that ended with anything but 0. Some say what they found all the same. */
export class ProgramError extends Error {
  readonly stdout: string;

  constructor(what: string, { stdout, stderr }: Output, cause: Error) {
    super(`${what}: ${cause.message}\n${stderr.slice(-2000)}`, { cause });
    this.stdout = stdout;
  }
}

/**
 * A node that shuts down stops all of its processes for a moment. nsenter stops together with its child, and as it is
 * outside of the node nobody wakes it: the dead child stays, and the node waits for it. So it is woken from here.
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

/** Debian keeps programs for root where the PATH of others does not lead. */
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
