/** Reads the memory, and lowers the priority, of a process and its descendants on Linux. */
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { readResidentBytes } from '../../../os/process/table.ts';

/** 0 on other systems, where only the heap limit applies. */
export async function residentBytes(pid: number): Promise<number> {
  const [own, children] = await Promise.all([readResidentBytes(pid), childrenOf(pid)]);
  const descendants = await Promise.all(children.map(residentBytes));
  return descendants.reduce((sum, bytes) => sum + bytes, own ?? 0);
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

async function childrenOf(pid: number): Promise<number[]> {
  // A process that has exited has no files in /proc.
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text
    .split(' ')
    .filter((word) => word.trim() !== '')
    .map(Number);
}
