/** Reads a file that an option of the console names. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../../os/errors.ts';
import { CliError, EXIT } from '../../errors.ts';

/** `path`: relative to the working directory, or absolute. */
export async function readTextFile(cwd: string, path: string): Promise<string> {
  const file = resolve(cwd, path);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`the file cannot be read: ${messageOf(error)}`, {
      where: file,
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}
