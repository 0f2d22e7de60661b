import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatDiff } from '../../../../../src/cli/commands/component/source/diff.ts';
import { applyEdits } from '../../../../../src/cli/commands/component/source/edit.ts';
import type { SourceEdit } from '../../../../../src/cli/commands/component/source/plan.ts';
import { tempFolder } from '../../../../support/temp.ts';

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
const TEXT = `${LINES.join('\n')}\n`;

function insert(text: string, before: string, added: string): SourceEdit {
  const start = text.indexOf(before);
  return { path: 'file.ts', start, end: start, text: added, because: '' };
}

function replace(text: string, old: string, by: string): SourceEdit {
  const start = text.indexOf(old);
  return { path: 'file.ts', start, end: start + old.length, text: by, because: '' };
}

describe('formatDiff', () => {
  it('prints the lines round each change as git does', () => {
    const edits = [insert(TEXT, 'line 2\n', 'new\n'), replace(TEXT, '15', '99')];
    expect(formatDiff({ path: 'file.ts', text: TEXT }, edits)).toBe(
      [
        '--- a/file.ts\n+++ b/file.ts\n@@ -1,4 +1,5 @@\n line 1\n+new\n line 2\n line 3\n line 4\n',
        '@@ -12,7 +13,7 @@\n line 12\n line 13\n line 14\n-line 15\n+line 99\n line 16\n line 17\n line 18\n',
      ].join(''),
    );
  });

  it('prints nothing without an edit', () => {
    expect(formatDiff({ path: 'file.ts', text: TEXT }, [])).toBe('');
  });

  it.each([
    ['an insertion at the begin', TEXT, [insert(TEXT, 'line 1\n', 'a\nb\n')]],
    ['a change of the last line', TEXT, [replace(TEXT, '20', '21')]],
    [
      'changes that are close to each other',
      TEXT,
      [replace(TEXT, 'line 5', 'x'), insert(TEXT, 'line 9\n', 'y\n')],
    ],
    ['a comma and a line after it', TEXT, [insert(TEXT, '\nline 6', ','), insert(TEXT, 'line 6\n', 'new\n')]],
    ['several lines for one', TEXT, [replace(TEXT, 'line 8', 'x\ny\nz')]],
    ['no line break at the end', LINES.join('\n'), [replace(TEXT, 'line 19', 'x')]],
    [
      'line ends of Windows',
      TEXT.replaceAll('\n', '\r\n'),
      [replace(TEXT.replaceAll('\n', '\r\n'), 'line 8', 'x')],
    ],
  ])('is accepted by git apply: %s', (_, text, edits) => {
    const folder = tempFolder('diff');
    writeFileSync(join(folder, 'file.ts'), text);
    writeFileSync(join(folder, 'change.diff'), formatDiff({ path: 'file.ts', text }, edits));
    execFileSync('git', ['apply', 'change.diff'], { cwd: folder, stdio: 'pipe' });
    expect(readFileSync(join(folder, 'file.ts'), 'utf8')).toBe(applyEdits(text, edits));
  });
});
