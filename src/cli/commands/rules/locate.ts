/** The line of a test inside a rule: a rule leaves the render as data, so its test is found by its name. Pure. */

export interface SourceText {
  /** Relative to the repository. */
  readonly file: string;
  readonly text: string;
}

export interface TestLocation {
  readonly file: string;
  readonly line: number;
}

/** Undefined where no file has the name of the test in quotes, as when it is put together from parts. */
export function locateTest(
  rule: string,
  test: string,
  sources: readonly SourceText[],
): TestLocation | undefined {
  const found = sources.flatMap(({ file, text }) => {
    const line = text.split('\n').findIndex((each) => hasName(each, test)) + 1;
    return line > 0 ? [{ file, line, rank: rankOf(file, rule) }] : [];
  });
  const best = found.toSorted((a, b) => b.rank - a.rank)[0];
  return best && { file: best.file, line: best.line };
}

function hasName(line: string, name: string): boolean {
  return line.includes(`'${name}'`) || line.includes(`"${name}"`) || line.includes(`\`${name}\``);
}

/** The least rank of a file that is called like the rule. */
const OWN_FILE = 2;

/** Two rules may have tests of the same name: the file that is called like the rule comes first. */
function rankOf(file: string, rule: string): number {
  const stem = file.replace(/^.*\//, '').replace(/\.[^.]+$/, '');
  if (stem === rule) return 3;
  if (rule.startsWith(`${stem}-`)) return OWN_FILE;
  return /(^|\/)rules\//.test(file) ? 1 : 0;
}

/** Fields of every rule: a line with one of them tells nothing. */
const COMMON: readonly string[] = ['spec', 'value'];

/**
 * The line in the file of a rule that has the innermost field of a path: `spec.rule.gate.value` is at `gate`. Undefined where no file
 * is called like the rule.
 */
export function locateField(
  rule: string,
  path: string,
  sources: readonly SourceText[],
): TestLocation | undefined {
  const source = sources
    .filter(({ file }) => rankOf(file, rule) >= OWN_FILE)
    .toSorted((a, b) => rankOf(b.file, rule) - rankOf(a.file, rule))[0];
  if (!source) return undefined;
  const lines = source.text.split('\n');
  const names = path.replaceAll(/\[[^\]]*\]/g, '').split('.');
  const found = names
    .filter((name) => !COMMON.includes(name))
    .toReversed()
    .map((name) => lines.findIndex((line) => hasField(line, name)) + 1)
    .find((line) => line > 0);
  return { file: source.file, line: found ?? 1 };
}

/** A key of a literal of TypeScript, JSON or YAML. */
const KEY = /(?:^|[\s{,])['"]?(?<key>\w+)['"]?\s*:/g;

function hasField(line: string, name: string): boolean {
  return [...line.matchAll(KEY)].some(({ groups }) => groups?.['key'] === name);
}
