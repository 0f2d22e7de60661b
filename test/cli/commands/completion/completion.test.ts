import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { listCompletions } from '../../../../src/cli/commands/completion/completion.ts';

const MAIN = fileURLToPath(new URL('../../../../src/cli/main.ts', import.meta.url));

function root(): Command {
  const up = new Command('up').option('--clusters <n>').option('-q, --quiet');
  return new Command('kubenode')
    .addCommand(new Command('local').addCommand(up))
    .addCommand(new Command('sync'));
}

describe('listCompletions', () => {
  it.each([
    ['nothing', '', ['--help', 'local', 'sync']],
    ['a command with subcommands', 'local', ['--help', 'up']],
    ['a command with options', 'local up', ['--clusters', '--help', '--quiet']],
    ['an option value', 'local up --clusters 3', ['--clusters', '--help', '--quiet']],
    ['an option that needs a value', 'local up --clusters', []],
  ])('lists the words after %s', (_name, typed, words) => {
    expect(listCompletions(root(), typed.split(' ').filter(Boolean))).toEqual(words);
  });
});

describe('the bash script', () => {
  it('completes commands by their prefix', () => {
    expect(complete('kubenode re')).toEqual(['release', 'remedy', 'render', 'report']);
  });

  it('completes subcommands', () => {
    expect(complete('kubenode release h')).toEqual(['halt']);
  });
});

/** Completes as bash does on Tab. */
function complete(line: string): string[] {
  const script = `
    kubenode() { '${process.execPath}' '${MAIN}' "$@"; }
    source <(kubenode completion bash)
    COMP_WORDS=(${line}) COMP_CWORD=$(( $(wc -w <<< '${line}') - 1 ))
    _kubenode
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
}
