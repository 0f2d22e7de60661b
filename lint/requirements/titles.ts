/** Reads which requirement each test title promises to hold, and renders the list for docs/requirements.md. */
import { splitSource } from '../words/source-text.ts';

export interface RequirementTitle {
  /** `S31`; a title that names several requirements appears once for each. */
  readonly requirement: string;
  /** The title without the numbers at its beginning. */
  readonly promise: string;
  readonly path: string;
}

const NUMBER = String.raw`(?:[A-Z]{3}-|[FRS])\d{1,3}`;
/** One number, several, or a range: `S2, S3 …`, `S31–S39 …`, `S31: …`. */
const TITLE = new RegExp(
  String.raw`^(?<numbers>${NUMBER}(?:(?:,? |–| and )${NUMBER})*):? (?<promise>.+)$`,
  's',
);
const ANY_NUMBER = new RegExp(String.raw`\b${NUMBER}\b`, 'g');
const MIN_WORDS = 4;

export function titlesIn(path: string, text: string): readonly RequirementTitle[] {
  const strings = splitSource(text).filter(({ kind }) => kind === 'string');
  return strings.flatMap(({ text: quoted }) => {
    const title = quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1');
    const { promise } = TITLE.exec(title)?.groups ?? {};
    if (promise === undefined) return [];
    return [...new Set(title.match(ANY_NUMBER))].map((requirement) => ({ requirement, promise, path }));
  });
}

/** A title that names a requirement but does not say what it promises: a topic, or a placeholder. */
export function hasPromise({ promise }: RequirementTitle): boolean {
  return (promise.replaceAll(/%\w|\$\w+/g, '').match(/[\w'’-]*[A-Za-z][\w'’-]*/g) ?? []).length >= MIN_WORDS;
}

export function renderRequirements(titles: readonly RequirementTitle[]): string {
  const byRequirement = Map.groupBy(titles.toSorted(compareTitles), ({ requirement }) => requirement);
  const sections = [...byRequirement].map(([requirement, promises]) => {
    const lines = promises.map(({ promise, path }) => `- ${promise} ([${nameOf(path)}](../${path}))`);
    return `## ${requirement}\n${lines.join('\n')}\n`;
  });
  return [HEAD, ...sections].join('\n');
}

const HEAD = `# Requirements and their tests

Generated from the titles of the tests by \`npm run requirements\`: each requirement, what it promises, and the test that proves it.
`;

function nameOf(path: string): string {
  return path.replace(/^test\//, '').replace(/\.test\.ts$/, '');
}

function compareTitles(a: RequirementTitle, b: RequirementTitle): number {
  return (
    compareTexts(sortKey(a.requirement), sortKey(b.requirement)) ||
    compareTexts(a.path, b.path) ||
    compareTexts(a.promise, b.promise)
  );
}

/** `S4` before `S31`. */
function sortKey(requirement: string): string {
  return requirement.replace(/\d+$/, (digits) => digits.padStart(3, '0'));
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
