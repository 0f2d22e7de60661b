/** Reads docs/promises.md, finds what it lacks, and joins it with the tests. */
import { readFileSync } from 'node:fs';
import { countWords, ID, type PromiseTitle } from './titles.ts';

export interface PromiseLine {
  readonly id: string;
  readonly sentence: string;
}

const PAGE = 'docs/promises.md';
const LINE = new RegExp(String.raw`^- \*\*(?<id>${ID})\*\* (?<sentence>.+)$`, 'gm');
const MIN_WORDS = 5;

export function readPromises(): readonly PromiseLine[] {
  return promisesIn(readFileSync(PAGE, 'utf8'));
}

export function promisesIn(text: string): readonly PromiseLine[] {
  return [...text.matchAll(LINE)].map(({ groups: { id = '', sentence = '' } = {} }) => ({ id, sentence }));
}

/** Compares the page with the ids in test titles, and returns what to fix. */
export function findProblems(
  promises: readonly PromiseLine[],
  titles: readonly PromiseTitle[],
): readonly string[] {
  const tested = new Set(titles.map(({ id }) => id));
  const lines = Map.groupBy(promises, ({ id }) => id);
  return [
    ...[...tested].filter((id) => !lines.has(id)).map((id) => `${id}: add a line to ${PAGE}`),
    ...[...lines].flatMap(([id, same]) => (same.length > 1 ? `${id}: keep one of ${same.length} lines` : [])),
    ...[...lines.keys()]
      .filter((id) => !tested.has(id))
      .map((id) => `${id}: no test names it, remove its line`),
    ...promises.flatMap(({ id, sentence }) => problemOf(sentence).map((problem) => `${id}: ${problem}`)),
  ];
}

function problemOf(sentence: string): readonly string[] {
  if (!sentence.endsWith('.')) return ['end the sentence with a period'];
  return countWords(sentence) < MIN_WORDS ? [`use at least ${MIN_WORDS} words`] : [];
}

export function unknownIds(ids: readonly string[], titles: readonly PromiseTitle[]): readonly string[] {
  const known = new Set(titles.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

/** Lists each promise in the order of the page, with the tests that prove it. Without ids it lists all. */
export function describePromises(
  promises: readonly PromiseLine[],
  titles: readonly PromiseTitle[],
  ids: readonly string[] = [],
): string {
  const tests = Map.groupBy(titles, ({ id }) => id);
  return promises
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map(({ id, sentence }) => {
      const proofs = (tests.get(id) ?? []).map(({ title, path }) => `  ${path}: ${title}\n`);
      return `${id}  ${sentence}\n${proofs.join('')}`;
    })
    .join('\n');
}
