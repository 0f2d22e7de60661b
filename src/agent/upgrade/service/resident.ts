/** How much memory a process takes. */
import { readFile } from 'node:fs/promises';

/** Undefined after it ended. */
export async function readResidentBytes(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(?<kibibytes>\d+) kB$/m.exec(text)?.groups?.['kibibytes'];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
