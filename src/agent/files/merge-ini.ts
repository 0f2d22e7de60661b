/**
 * Keys of an INI file that others write, too: systemd units, sysctl files, /etc/crio.conf. Comments, order and keys of
 * others are kept. A key may occur several times in a section, as in systemd: ours replace all of its lines. Pure.
 */
interface Line {
  readonly text: string;
  readonly section: string;
  /** Undefined: a comment, an empty line or the header of a section. */
  readonly key?: string;
}

export function mergeIni(content: string, found: string): string {
  return [...groupByKey(content)].reduce((text, [id, lines]) => replaceKey(text, id, lines), found);
}

export function unmergeIni(content: string, found: string, original: string): string {
  const before = groupByKey(original);
  const restored = [...groupByKey(content).keys()].reduce(
    (text, id) => replaceKey(text, id, before.get(id) ?? []),
    found,
  );
  return hasOnlyHeaders(restored) && original.trim() === '' ? original : restored;
}

const SEPARATOR = '\u0000';

/** Maps each section and key to the lines that set it. */
function groupByKey(text: string): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { text: line, section, key } of parse(text)) {
    if (key === undefined) continue;
    const id = section + SEPARATOR + key;
    groups.set(id, [...(groups.get(id) ?? []), line]);
  }
  return groups;
}

function replaceKey(text: string, id: string, desired: readonly string[]): string {
  const lines = parse(text);
  const isOurs = (line: Line): boolean => line.section + SEPARATOR + (line.key ?? '') === id;
  const found = lines.filter(isOurs).map((line) => line.text);
  if (
    found.length === desired.length &&
    found.every((line, index) => normal(line) === normal(desired[index] ?? ''))
  ) {
    return text;
  }
  const others = lines.filter((line) => !isOurs(line));
  return print(insert(others, id.split(SEPARATOR)[0] ?? '', { lines, isOurs, desired }));
}

interface Insertion {
  readonly lines: readonly Line[];
  readonly isOurs: (line: Line) => boolean;
  readonly desired: readonly string[];
}

/** Where the key was before, else at the end of its section, else in a new section. */
function insert(
  others: readonly Line[],
  section: string,
  { lines, isOurs, desired }: Insertion,
): readonly string[] {
  const texts = others.map((line) => line.text);
  if (desired.length === 0) return texts;
  const first = lines.findIndex(isOurs);
  if (first !== -1) {
    return texts.toSpliced(lines.slice(0, first).filter((line) => !isOurs(line)).length, 0, ...desired);
  }
  const last = others.findLastIndex((line) => line.section === section && line.text.trim() !== '');
  if (last !== -1) return texts.toSpliced(last + 1, 0, ...desired);
  return section === '' ? [...desired, ...texts] : [...texts, `[${section}]`, ...desired];
}

function parse(text: string): readonly Line[] {
  let section = '';
  return logicalLines(text).map((line) => {
    const header = /^\s*\[([^\]]*)\]\s*$/.exec(line);
    if (header) {
      section = header[1] ?? '';
      return { text: line, section };
    }
    const key = /^\s*([^#;=\s][^=\n]*?)\s*=/.exec(line)?.[1];
    return key === undefined ? { text: line, section } : { text: line, section, key };
  });
}

/** A backslash at the end continues a line of systemd: the lines after it are a part of its value. */
function logicalLines(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const joined: string[] = [];
  let isContinued = false;
  for (const line of lines) {
    if (isContinued) joined.push(`${joined.pop() ?? ''}\n${line}`);
    else joined.push(line);
    isContinued = /\\\r?$/.test(line) && (isContinued || !/^\s*[#;]/.test(line));
  }
  return joined;
}

/** Spaces around the equals sign mean nothing. */
function normal(line: string): string {
  return line.trim().replace(/\s*=\s*/, '=');
}

function hasOnlyHeaders(text: string): boolean {
  return parse(text).every(({ text: line }) => line.trim() === '' || /^\s*\[[^\]]*\]\s*$/.test(line));
}

function print(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
