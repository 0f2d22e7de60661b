/** Whether node-problem-detector runs on this host, in a container or not. */
import { readdir, readFile } from 'node:fs/promises';

/** The kernel keeps 15 characters of the name of a program. */
const NAME = 'node-problem-detector'.slice(0, 15);

export async function isOtherDetectorRunning(proc = '/proc'): Promise<boolean> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    // A process may end while it is looked at.
    const name = await readFile(`${proc}/${pid}/comm`, 'utf8').catch(() => '');
    if (name.trim() === NAME) return true;
  }
  return false;
}
