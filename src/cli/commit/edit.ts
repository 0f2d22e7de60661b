/**
 * Where a text of a fleet repository may get an entry of a list of a Pipeline. A program can declare it in many ways, so these are
 * only candidates: the one that renders to exactly the new entries is taken. Pure.
 */

export interface FileText {
  /** In the repository. */
  readonly path: string;
  readonly text: string;
}

export type ListEntry = Readonly<Record<string, string>>;

/** Each is a whole file: first those that extend a list, then those that begin one before `stages`. */
export function entryEdits(
  files: readonly FileText[],
  list: string,
  entries: readonly ListEntry[],
): readonly FileText[] {
  return [extendList, beginBlockItems, beginList].flatMap((find) =>
    files.flatMap(({ path, text }) =>
      find(text, { list, entries, isYaml: isYaml(path) }).map((edited) => ({ path, text: edited })),
    ),
  );
}

export function isYaml(path: string): boolean {
  return /\.ya?ml$/.test(path);
}

interface EntryInsert {
  readonly list: string;
  readonly entries: readonly ListEntry[];
  readonly isYaml: boolean;
}

/** `acknowledgements: [`, in a program and in YAML. */
function extendList(text: string, insert: EntryInsert): string[] {
  return matches(text, new RegExp(`^(?<indent>[ \\t]*)${insert.list}: *\\[`, 'gm')).map(({ indent, end }) => {
    const isEmpty = /^\s*\]/.test(text.slice(end));
    const lines = insert.entries.map((entry) => `\n${indent}  ${formatEntry(entry, insert)},`);
    const rest = text
      .slice(end)
      .replace(isEmpty ? /^\s*/ : /^[ \t]*(?=\S)/, `\n${indent}${isEmpty ? '' : '  '}`);
    return `${text.slice(0, end)}${lines.join('')}${rest}`;
  });
}

/** `acknowledgements:` and a `-` on the next line, in YAML. */
function beginBlockItems(text: string, insert: EntryInsert): string[] {
  if (!insert.isYaml) return [];
  return matches(text, new RegExp(`^[ \\t]*${insert.list}:[ \\t]*\\n(?=(?<indent>[ \\t]*)- )`, 'gm')).map(
    ({ indent, end }) => {
      const lines = insert.entries.map((entry) => `${indent}- ${formatEntry(entry, insert)}\n`);
      return `${text.slice(0, end)}${lines.join('')}${text.slice(end)}`;
    },
  );
}

/** Every Pipeline has stages. */
function beginList(text: string, insert: EntryInsert): string[] {
  return matches(text, /^(?<indent>[ \t]*)(?=stages:)/gm).map(({ indent, start }) => {
    const { list, entries } = insert;
    const items = entries.map((entry) => formatEntry(entry, insert));
    const lines = insert.isYaml
      ? [`${list}:`, ...items.map((item) => `  - ${item}`)]
      : [`${list}: [`, ...items.map((item) => `  ${item},`), '],'];
    const block = lines.map((line) => `${indent}${line}\n`).join('');
    return `${text.slice(0, start)}${block}${text.slice(start)}`;
  });
}

interface ListPlace {
  readonly indent: string;
  readonly start: number;
  readonly end: number;
}

function matches(text: string, pattern: RegExp): ListPlace[] {
  return [...text.matchAll(pattern)].map((match) => ({
    indent: match.groups?.['indent'] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** JSON is YAML, too. */
function formatEntry(entry: ListEntry, { isYaml: asYaml }: EntryInsert): string {
  if (asYaml) return JSON.stringify(entry);
  return `{ ${Object.entries(entry)
    .map(([key, value]) => `${key}: ${quote(value)}`)
    .join(', ')} }`;
}

/** In single quotes where nothing has to be escaped. */
function quote(text: string): string {
  return /^[^'\\\p{Cc}]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}
