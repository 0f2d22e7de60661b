import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { wordsAfter } from '../../../src/cli/commands/completion.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

function root(): Command {
  const up = new Command('up').option('--clusters <n>').option('-q, --quiet');
  return new Command('kubenode')
    .addCommand(new Command('local').addCommand(up))
    .addCommand(new Command('sync'));
}

describe('what can follow', () => {
  it.each([
    ['nothing', '', ['--help', 'local', 'sync']],
    ['a command with commands', 'local', ['--help', 'up']],
    ['a command with options', 'local up', ['--clusters', '--help', '--quiet']],
    ['a value in between', 'local up --clusters 3', ['--clusters', '--help', '--quiet']],
  ])('after %s', (_name, typed, words) => {
    expect(wordsAfter(root(), typed.split(' ').filter(Boolean))).toEqual(words);
  });
});

describe('the script of bash', () => {
  it('completes commands that begin so', () => {
    expect(complete('kubenode re')).toEqual(['release', 'render']);
  });

  it('completes the commands below a command', () => {
    expect(complete('kubenode release h')).toEqual(['halt']);
  });
});

/** As bash itself asks when somebody presses Tab. */
function complete(line: string): string[] {
  const script = `
    kubenode() { '${process.execPath}' '${MAIN}' "$@"; }
    source <(kubenode completion bash)
    COMP_WORDS=(${line}) COMP_CWORD=$(( $(wc -w <<< '${line}') - 1 ))
    _kubenode
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
}
