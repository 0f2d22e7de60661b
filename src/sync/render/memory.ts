/** Resident memory of a process and its descendants on Linux; 0 elsewhere, where only the heap limit applies. */
import { readFile } from 'node:fs/promises';

const PAGE = 4096;

export async function residentBytes(pid: number): Promise<number> {
  const [own, children] = await Promise.all([statm(pid), childrenOf(pid)]);
  const descendants = await Promise.all(children.map(residentBytes));
  return descendants.reduce((sum, bytes) => sum + bytes, own);
}

async function statm(pid: number): Promise<number> {
  const text = await readOrEmpty(`/proc/${pid}/statm`);
  return Number(text.split(' ')[1] ?? 0) * PAGE;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readOrEmpty(`/proc/${pid}/task/${pid}/children`);
  return text
    .split(' ')
    .filter((word) => word.trim() !== '')
    .map(Number);
}

/** A process that has exited has no files in /proc. */
async function readOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
