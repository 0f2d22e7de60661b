/** Frees a directory of those that use it, so that it can be removed: containers run on when their runtime is stopped. */
import { readFile, readlink } from 'node:fs/promises';
import { kill, pid as ownPid } from 'node:process';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Clock } from '../../../../os/clock.ts';
import { systemCode } from '../../../../os/errors.ts';
import { listPids } from '../../../../os/process/table.ts';
import { HostError } from '../../errors.ts';
import { failureText, type RunCommand } from '../commands.ts';
import { type ListedProcess, mountsIn, parentIn, usersOf } from './users.ts';

export interface FreeDirectoryOptions {
  readonly run: RunCommand;
  readonly clock: Clock;
}

const WITHIN_MS = 20_000;
const INTERVAL_MS = 50;

export async function freeDirectory(directory: string, options: FreeDirectoryOptions): Promise<void> {
  await endUsers(directory, options);
  for (const path of mountsIn(await readFile('/proc/self/mountinfo', 'utf8'), directory)) {
    // Lazily: a mount in use is away for all who look for it from now on.
    const answer = await options.run(['umount', '--lazy', '--', path]);
    if (answer.exitCode === 0 || !(await isMounted(path, directory))) continue;
    throw new HostError('NotStopped', `${path} cannot be unmounted: ${failureText(answer)}`, { where: path });
  }
}

/** Asks again until none is left: what is ended last may have started another one. */
async function endUsers(directory: string, { clock }: FreeDirectoryOptions): Promise<void> {
  const end = clock.monotonicMs() + WITHIN_MS;
  for (;;) {
    const users = usersOf(await listProcesses(), directory, ownPid);
    if (users.length === 0) return;
    for (const user of users) endProcess(user);
    if (clock.monotonicMs() >= end) {
      throw new HostError(
        'NotStopped',
        `processes that work in ${directory} did not end: ${users.join(', ')}`,
        {
          where: directory,
        },
      );
    }
    await clock.sleep(INTERVAL_MS);
  }
}

function endProcess(pid: number): void {
  try {
    kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

async function listProcesses(): Promise<readonly ListedProcess[]> {
  const all = await Promise.all((await listPids()).map(readProcess));
  return all.filter((each) => each !== undefined);
}

/** Undefined after it ended; one that ended and is not collected yet works nowhere. */
async function readProcess(pid: number): Promise<ListedProcess | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return { pid, parent: parentIn(stat), ...optional('directory', directory) };
}

async function isMounted(path: string, directory: string): Promise<boolean> {
  return mountsIn(await readFile('/proc/self/mountinfo', 'utf8'), directory).includes(path);
}
