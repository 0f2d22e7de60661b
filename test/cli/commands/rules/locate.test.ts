import { describe, expect, it } from 'vitest';
import { locateTest, type SourceText } from '../../../../src/cli/commands/rules/locate.ts';

const source = (file: string, ...lines: readonly string[]): SourceText => ({ file, text: lines.join('\n') });
const FULL = "  { name: 'full', expect: 'Match' },";

describe('locateTest', () => {
  it.each([
    ["the file's own line", [source('rules/disk.ts', 'a', FULL)], 'rules/disk.ts:2'],
    [
      'the file with the name of the rule',
      [source('a.ts', FULL), source('rules/disk.ts', FULL)],
      'rules/disk.ts:1',
    ],
    [
      'a file that makes several rules',
      [source('rules/a.ts', FULL), source('rules/di.ts'), source('x/disk.ts', FULL)],
      'x/disk.ts:1',
    ],
    ['a file in rules', [source('fleet/a.ts', FULL), source('rules/a.ts', FULL)], 'rules/a.ts:1'],
    ['a name in double quotes', [source('rules/disk.yaml', 'tests:', '- name: "full"')], 'rules/disk.yaml:2'],
    ['nothing for a part of another name', [source('rules/disk.ts', "{ name: 'full of logs' }")], undefined],
    ['nothing where no file has it', [source('rules/disk.ts', 'a')], undefined],
  ])('finds %s', (_, sources, place) => {
    const found = locateTest('disk', 'full', sources);
    expect(found && `${found.file}:${found.line}`).toBe(place);
  });

  it('prefers the file whose name begins that of the rule', () => {
    const sources = [source('rules/other.ts', FULL), source('rules/component-down.ts', '', FULL)];
    expect(locateTest('component-down-kubelet', 'full', sources)).toEqual({
      file: 'rules/component-down.ts',
      line: 2,
    });
  });
});
