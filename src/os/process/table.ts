/** The processes of this machine, as /proc shows them. */
import { readdir, readFile } from 'node:fs/promises';

export async function listPids(): Promise<readonly number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Undefined after it ended, and on systems other than Linux. */
export async function readResidentBytes(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(?<kibibytes>\d+) kB$/m.exec(text)?.groups?.['kibibytes'];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
