/** Commands in hints, as the shell that printed them finds them. */
import type { Io } from '../io.ts';

const COMMAND = /(?<=[`:] ?|\brun |\bwith )kubenode (?=[a-z])/g;

/** npm and npx run programs of a folder that a shell finds only by npx. */
export function makeRunnable(text: string, env: Io['env']): string {
  return env['npm_command'] === undefined ? text : text.replaceAll(COMMAND, 'npx kubenode ');
}

/** A path as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
