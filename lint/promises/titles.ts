/** Reads which promises each test title proves. */
import { splitSource } from '../words/source-text.ts';

export interface PromiseTitle {
  /** `S31`; a title that names several ids appears once for each. */
  readonly id: string;
  /** The title without the ids at its beginning. */
  readonly title: string;
  readonly path: string;
}

export const ID = String.raw`(?:[A-Z]{3}-|[FRS])\d{1,3}`;
/** One id, several, or a range: `S2, S3 …`, `S31–S39 …`, `S31: …`. */
const TITLE = new RegExp(String.raw`^${ID}(?:(?:,? |–| and )${ID})*:? (?<title>.+)$`, 's');
const ANY_ID = new RegExp(String.raw`\b${ID}\b`, 'g');
const MIN_WORDS = 4;

export function titlesIn(path: string, text: string): readonly PromiseTitle[] {
  const strings = splitSource(text).filter(({ kind }) => kind === 'string');
  return strings.flatMap(({ text: quoted }) => {
    const whole = quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1');
    const { title } = TITLE.exec(whole)?.groups ?? {};
    if (title === undefined) return [];
    return [...new Set(whole.match(ANY_ID))].map((id) => ({ id, title, path }));
  });
}

/** A title that names an id but does not state what is promised: a topic, or a placeholder. */
export function statesPromise({ title }: PromiseTitle): boolean {
  return countWords(title.replaceAll(/%\w|\$\w+/g, '')) >= MIN_WORDS;
}

export function countWords(text: string): number {
  return (text.match(/[\w'’-]*[A-Za-z][\w'’-]*/g) ?? []).length;
}
