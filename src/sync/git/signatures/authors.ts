/** Collects who wrote or signed the changes of a range of commits: an approval by one of them does not count as that of another person. */
import { EVERYBODY } from '../../commits.ts';
import type { RawObject } from '../transport.ts';
import { personName } from './ssh/people.ts';

/** These are the bounds of `spec.authors` of a Release. */
const [MAX_AUTHORS, MAX_LENGTH] = [100, 128];
const MAX_CO_AUTHORS = 20;
/** Longer lines are ignored. */
const MAX_LINE = 1024;

/**
 * Returns the names and addresses that a commit states as its authors. Anybody can write any name there, so they never make somebody
 * another person: they only add to those who are the same.
 */
export function statedAuthors({ content }: RawObject): readonly string[] {
  const [header = '', ...body] = Buffer.from(content).toString('utf8').split('\n\n');
  const author = header.split('\n').find((line) => line.startsWith('author '));
  const others = body
    .flatMap((paragraph) => paragraph.split('\n'))
    .filter((line) => line.slice(0, CO_AUTHOR.length).toLowerCase() === CO_AUTHOR)
    .slice(0, MAX_CO_AUTHORS)
    .map((line) => line.slice(CO_AUTHOR.length));
  return [author?.slice('author '.length) ?? '', ...others].flatMap(namesIn);
}

const CO_AUTHOR = 'co-authored-by:';

/** Splits `Ann <ann@example.com> 1893456000 +0000`. */
function namesIn(line: string): readonly string[] {
  const open = line.length > MAX_LINE ? -1 : line.indexOf('<');
  const close = line.indexOf('>', open);
  return open < 0 || close < 0 ? [] : [line.slice(0, open), line.slice(open + 1, close)];
}

/** Returns each name once, in one spelling, or EVERYBODY if there are too many. */
export function joinAuthors(names: Iterable<string>): readonly string[] {
  const found = new Set<string>();
  for (const name of names) {
    // Half of a surrogate pair would not be stored as it is.
    const known = personName(name).slice(0, MAX_LENGTH).toWellFormed();
    if (known !== '') found.add(known);
    if (known === EVERYBODY || found.size > MAX_AUTHORS) return [EVERYBODY];
  }
  return [...found].toSorted((a, b) => (a < b ? -1 : 1));
}
