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

/** Two rules may have tests of the same name: the file that is called like the rule comes first. */
function rankOf(file: string, rule: string): number {
  const stem = file.replace(/^.*\//, '').replace(/\.[^.]+$/, '');
  if (stem === rule) return 3;
  if (rule.startsWith(`${stem}-`)) return 2;
  return /(^|\/)rules\//.test(file) ? 1 : 0;
}
