/** `npm run words`: prints what words.md bans, with its place and what to write instead. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, findInDocument, findInSource, findTwiceExported, type TextFile } from './find.ts';

const FOLDERS = ['src', 'test', 'fleet', 'rules', 'bench', 'lint', 'scripts', 'docs'];
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'vitest.config.ts'];
/** Generated, recorded by tests, or the table of the banned words itself. */
const EXCLUDED = /\/generated\/|^test\/golden\/|^lint\/words\/banned\.ts$|^test\/lint\//;

/** Paths on the command line restrict the findings to files under them. */
const only = process.argv.slice(2);
const files = [...FOLDERS, ...DOCUMENTS]
  .flatMap(filesIn)
  .filter((path) => !EXCLUDED.test(path))
  .map((path): TextFile => ({ path, text: readFileSync(path, 'utf8') }));
const sources = files.filter(({ path }) => /\.(ts|js)$/.test(path));
const exporting = sources.filter(({ path }) => path.startsWith('src/') && !path.includes('/templates/'));

const findings: readonly Finding[] = [
  ...sources.flatMap(findInSource),
  ...files.filter(({ path }) => path.endsWith('.md')).flatMap(findInDocument),
  ...findTwiceExported(exporting),
].filter(({ path }) => only.length === 0 || only.some((folder) => path.startsWith(folder)));

const lines = findings.map(({ path, line, found, instead }) => `${path}:${line}: "${found}" -> ${instead}\n`);
process.stdout.write(lines.join(''));
if (findings.length > 0) {
  process.stdout.write(`${findings.length} findings. The banned words are listed in lint/words/banned.ts.\n`);
  process.exitCode = 1;
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((file) => join(path, file))
    .filter((file) => /\.(ts|js|md)$/.test(file))
    .toSorted();
}
