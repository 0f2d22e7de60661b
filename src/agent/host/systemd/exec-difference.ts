/** Compares a process that the host started with the command by which a unit would start it. */
import { readFile, readlink, stat } from 'node:fs/promises';
import type { UnitDefinition } from '../port.ts';

type Exec = NonNullable<UnitDefinition['exec']>;

/** Completes the sentence that begins with the unit. The program itself is compared by its digest. */
export async function execDifference(pid: number, exec: Exec): Promise<string | undefined> {
  const [, ...found] = await readList(`/proc/${pid}/cmdline`);
  const [, ...expected] = exec.argv;
  const at = Array.from({ length: Math.max(found.length, expected.length) }).findIndex(
    (_, index) => found[index] !== expected[index],
  );
  if (at >= 0) return `runs with other arguments: argument ${at + 1} differs`;
  return (await environmentDifference(pid, exec)) ?? (await ownerDifference(pid, exec));
}

async function environmentDifference(pid: number, { env }: Exec): Promise<string | undefined> {
  const found = new Set(await readList(`/proc/${pid}/environ`));
  const other = Object.entries(env).find(([key, value]) => !found.has(`${key}=${value}`));
  return other && `runs without the declared value of the variable ${other[0]}`;
}

async function ownerDifference(pid: number, { user, workingDirectory }: Exec): Promise<string | undefined> {
  const { uid } = await stat(`/proc/${pid}`);
  // Names of other users are not translated here: what is not known is not the same.
  if (user !== 'root' || uid !== 0) return 'runs as a user that could not be compared';
  if (workingDirectory === undefined) return undefined;
  const found = await readlink(`/proc/${pid}/cwd`);
  return found === workingDirectory ? undefined : `does not run in ${workingDirectory}`;
}

async function readList(path: string): Promise<readonly string[]> {
  return (await readFile(path, 'utf8')).replace(/\0$/, '').split('\0');
}
