/** The instructions of deploy/Dockerfile. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

const FILE = fileURLToPath(new URL('../../deploy/Dockerfile', import.meta.url));

const instructions: readonly Instruction[] = readFileSync(FILE, 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => ({ word: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1).trim() }));

/** The rest of each instruction that begins with this word. */
export function dockerInstructions(word: string): readonly string[] {
  return instructions.filter((each) => each.word === word).map(({ rest }) => rest);
}
