/** Memory and priority of a process and its descendants on Linux. */
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';

const PAGE = 4096;

/** 0 on other systems, where only the heap limit applies. */
export async function residentBytes(pid: number): Promise<number> {
  const [own, children] = await Promise.all([statm(pid), childrenOf(pid)]);
  const descendants = await Promise.all(children.map(residentBytes));
  return descendants.reduce((sum, bytes) => sum + bytes, own);
}

export async function lowerPriority(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended.
  }
  await Promise.all((await childrenOf(pid)).map(lowerPriority));
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
