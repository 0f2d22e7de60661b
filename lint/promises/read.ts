import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PromiseTitle, titlesIn } from './titles.ts';

/** The tests of this checker contain examples, not promises. */
const EXCLUDED = 'test/lint/';

/** The titles of all tests of the repository, from its root. */
export function readTitles(): readonly PromiseTitle[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((file) => join('test', file));
  const tests = files.filter((path) => path.endsWith('.test.ts') && !path.startsWith(EXCLUDED));
  return tests.toSorted().flatMap((path) => titlesIn(path, readFileSync(path, 'utf8')));
}
