/** Where the program of the judge is: the render worker of sync, with the checks of a commit. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export const JUDGE_PROGRAM = join(dirname(fileURLToPath(import.meta.url)), `judge.${EXTENSION}`);
