/** Resident memory of a process and all below it, from Linux; elsewhere the heap limit has to do. */
import { readFile } from 'node:fs/promises';

const PAGE = 4096;

export async function residentBytes(pid: number): Promise<number> {
  const [own, children] = await Promise.all([statm(pid), childrenOf(pid)]);
  const below = await Promise.all(children.map(residentBytes));
  return below.reduce((sum, bytes) => sum + bytes, own);
}

async function statm(pid: number): Promise<number> {
  const text = await readOrNothing(`/proc/${pid}/statm`);
  return Number(text.split(' ')[1] ?? 0) * PAGE;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readOrNothing(`/proc/${pid}/task/${pid}/children`);
  return text
    .split(' ')
    .filter((word) => word.trim() !== '')
    .map(Number);
}

/** A process that has just ended has no files. */
async function readOrNothing(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
