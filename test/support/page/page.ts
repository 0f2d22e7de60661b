/** A page of the documentation, as a reader sees it: sections, and in them the statements of a shell and other blocks. */
import { readFileSync } from 'node:fs';
import { statementsOf } from './statements.ts';

export interface Section {
  /** Its heading; that of the page for what comes before the first section. */
  readonly title: string;
  readonly statements: readonly string[];
}

export interface Page {
  readonly path: string;
  /** Those with statements, in the order of the page. */
  readonly sections: readonly Section[];
  /** The blocks of a language, such as `yaml`, in the order of the page. */
  blocks(language: string): readonly string[];
}

interface Block {
  readonly language: string;
  readonly body: string;
  readonly title: string;
}

const SHELL = new Set(['sh', 'bash', 'console']);
const FENCE = /^ *```/m;
const HEADING = /^#+ (?<title>.+)$/gm;

export function readPage(path: string): Page {
  return parsePage(path, readFileSync(path, 'utf8'));
}

export function parsePage(path: string, text: string): Page {
  const blocks = blocksOf(text);
  const titles = [...new Set(blocks.map(({ title }) => title))];
  const sections = titles.map((title) => ({
    title,
    statements: blocks.filter((block) => block.title === title).flatMap(statementsIn),
  }));
  return {
    path,
    sections: sections.filter(({ statements }) => statements.length > 0),
    blocks: (language) => blocks.filter((block) => block.language === language).map(({ body }) => body),
  };
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let title = '';
  // Between two fences are the lines of a block, and before the first one and behind it is text.
  for (const [index, part] of text.split(FENCE).entries()) {
    const [language = '', ...lines] = part.split('\n');
    if (index % 2 === 1) blocks.push({ language, body: unindented(lines.slice(0, -1)), title });
    else title = [...part.matchAll(HEADING)].at(-1)?.groups?.['title'] ?? title;
  }
  return blocks;
}

/** A block in a list is indented as a whole. */
function unindented(lines: readonly string[]): string {
  const indent = /^ */.exec(lines[0] ?? '')?.[0] ?? '';
  return lines.map((line) => `${line.startsWith(indent) ? line.slice(indent.length) : line}\n`).join('');
}

/** In a block without a language, which shows an output too, those behind a prompt. */
function statementsIn({ language, body }: Block): readonly string[] {
  if (SHELL.has(language)) return statementsOf(body);
  if (language !== '') return [];
  return body.split('\n').flatMap((line) => /^\$ (?<statement>.+)$/.exec(line)?.groups?.['statement'] ?? []);
}
