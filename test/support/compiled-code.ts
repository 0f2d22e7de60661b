/** Where Node keeps the compiled code of the programs that tests start. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** In a checkout. An installation of the dependencies empties it. */
export const COMPILED = 'node_modules/.cache/compiled';

/** Lets a copy of a checkout start with what was compiled in the original, but for what other programs write meanwhile. */
export function copyCompiledCode(from: string, to: string): void {
  const original = join(from, COMPILED);
  if (existsSync(original)) {
    spawnSync('cp', ['-r', '--parents', COMPILED, to], { cwd: from, stdio: 'ignore' });
  }
}
