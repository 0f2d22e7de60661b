import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { nextKind, readNames } from '../../../../src/cli/commands/completion/names.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const COMMAND = new Command('approve')
  .argument('<release>')
  .argument('<stage>')
  .option('--pipeline <name>')
  .option('-r, --reason <text>')
  .option('--quiet');

describe('completion of names', () => {
  it.each<[name: string, words: readonly string[], kind: string | undefined]>([
    ['the first argument', [], 'Release'],
    ['an argument after an option with a value', ['--reason', 'why'], 'Release'],
    ['an argument after an option without one', ['--quiet'], 'Release'],
    ['an argument that names another thing', ['fleet-1'], undefined],
    ['the value of an option', ['--pipeline'], 'Pipeline'],
    ['the value of an option after the arguments', ['fleet-1', 'prod', '--pipeline'], 'Pipeline'],
    ['the value of an option that names no object', ['-r'], undefined],
    ['nothing after all arguments', ['fleet-1', 'prod'], undefined],
  ])('knows the kind of %s', (_, words, kind) => {
    expect(nextKind({ command: COMMAND, words })?.kind).toBe(kind);
  });

  it('completes nothing, without an error, where there is no cluster', async () => {
    const io = testIo({ env: { HOME: tempFolder('home') } });
    expect(await readNames(io, ['--kubeconfig', '/missing'], MACHINES)).toEqual([]);
    expect(io.stderr).toBe('');
  });
});
