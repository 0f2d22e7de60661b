import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { testIo } from '../support/test-io.ts';

async function namesFor(...args: string[]): Promise<string[]> {
  const { commands } = await createProgram(testIo(), args);
  return commands.map((command) => command.name());
}

describe('createProgram', () => {
  it('loads only the command that runs', async () => {
    const all = await namesFor();
    expect(all).toContain('sync');
    for (const name of all.filter((each) => each !== 'completion')) {
      expect(await namesFor(name, '--help')).toEqual([name]);
    }
  });

  it.each(['--version', '-V'])('loads no command for %s', async (flag) => {
    expect(await namesFor(flag)).toEqual([]);
  });

  it.each([
    ['the help of all', ['--help']],
    ['the help of one', ['help', 'sync']],
    ['completion', ['completion', 'bash']],
    ['a mistyped command', ['snyc']],
    ['a name that every object has', ['constructor']],
  ])('loads all of them for %s', async (_, args) => {
    expect(await namesFor(...args)).toEqual(await namesFor());
  });
});
