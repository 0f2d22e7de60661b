/** The commands of docs/guides/first-hour.md exist, with their options, as they are written there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { testIo } from '../support/test-io.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/first-hour.md'), 'utf8');
const LINES = [...GUIDE.matchAll(/kubenode (?<words>[a-z][^\n`#]*)[\n`#]/g)]
  .map(({ groups }) => groups?.['words']?.trim() ?? '')
  .filter((words) => !/^(itself|yet)/.test(words));

/** The options of a command and of those above it. */
function optionsOf(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => long ?? []);
  return command.parent ? [...own, ...optionsOf(command.parent)] : own;
}

describe('the guide of the first hour', () => {
  it('contains the commands of a first hour', () => {
    expect(LINES.length).toBeGreaterThan(15);
  });

  it.each(LINES)('names only what exists: kubenode %s', async (line) => {
    const words = line.replaceAll(/"[^"]*"/g, 'text').split(/\s+/);
    let command = await createProgram(testIo({}), []);
    for (const word of words) command = command.commands.find((each) => each.name() === word) ?? command;
    expect(command.parent, `no command ${words[0] ?? ''}`).not.toBeNull();
    expect(optionsOf(command)).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith('--'))));
  });
});
