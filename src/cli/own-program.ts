import { fileURLToPath } from 'node:url';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
/** The file of this command line, for processes that run another command of it. */
export const OWN_PROGRAM = fileURLToPath(new URL(`./main.${EXTENSION}`, import.meta.url));
