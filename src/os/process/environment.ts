/** The environment of a process of this machine, as /proc shows it. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { statFields } from './identity.ts';

const KERNEL_THREAD = 0x20_00_00;
/** Longer than a busy machine needs for an exec. */
const ATTEMPTS = 250;
const PAUSE_MS = 2;

/**
 * `NAME=value` each. Empty for zombies, kernel threads and the processes of other users.
 * A process shows no environment while it replaces its program: we look again then, for it is still there.
 */
export async function readEnvironment(pid: number): Promise<readonly string[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => undefined);
    if (text === undefined) return [];
    if (text !== '') return text.split('\0').slice(0, -1);
    if (await hasNone(pid)) return [];
    await pause(PAUSE_MS);
  }
  return [];
}

async function hasNone(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return true;
  const field = statFields(text);
  const [state, flags, start, end] = [field(3), Number(field(9)), field(50), field(51)];
  if (state === 'Z' || state === 'X' || (flags & KERNEL_THREAD) !== 0) return true;
  return end !== '0' && start === end;
}
