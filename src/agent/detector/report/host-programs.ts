/** The programs that run on this host, in a container or not. */
import { readdir, readFile } from 'node:fs/promises';

/** Names as the kernel keeps them: their first 15 characters. */
export async function readProgramNames(proc = '/proc'): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    // A process may end while it is looked at.
    const name = await readFile(`${proc}/${pid}/comm`, 'utf8').catch(() => '');
    if (name !== '') names.add(name.trim());
  }
  return names;
}
