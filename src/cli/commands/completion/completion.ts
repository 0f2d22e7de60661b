/** Shell completion scripts. They call `kubenode completion --words`, so they are always up to date. */
import { Command } from 'commander';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { expectsValue, nextChoices, nextNames, readNames, type TypedLine } from './names.ts';

const SCRIPTS: Record<string, string> = {
  bash: `_kubenode() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(kubenode completion --words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _kubenode kubenode
`,
  zsh: `#compdef kubenode
_kubenode() {
  local -a found
  found=("\${(@f)$(kubenode completion --words -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  compadd -a found
  _files
}
compdef _kubenode kubenode
`,
  fish: `complete -c kubenode -f -a '(kubenode completion --words -- (commandline -opc)[2..-1] 2>/dev/null)'
`,
};

const HELP = `
Examples:
  source <(kubenode completion bash)
  kubenode completion zsh > "\${fpath[1]}/_kubenode"
  kubenode completion fish > ~/.config/fish/completions/kubenode.fish`;

export function createCompletionCommand(io: Io, root: () => Command): Command {
  return new Command('completion')
    .description('print the completion script for a shell')
    .argument('[shell]', 'bash, zsh or fish', 'bash')
    .option('--words', 'print the words that can follow those after -- (used by the scripts)')
    .allowExcessArguments()
    .addHelpText('after', HELP)
    .action(async (shell: string, { words }: { words?: true }, command: Command) => {
      if (!words) return io.out(scriptFor(shell));
      const all = [...(await listNames(io, root(), command.args)), ...listCompletions(root(), command.args)];
      io.out(`${all.join('\n')}\n`);
    });
}

function scriptFor(shell: string): string {
  const script = SCRIPTS[shell];
  if (script) return script;
  throw new CliError(`no completion script for shell ${shell}`, {
    hint: `use one of: ${Object.keys(SCRIPTS).join(', ')}`,
    exitCode: EXIT.usage,
  });
}

/** The subcommands of the command typed so far, and its long options; nothing where the value of an option follows. */
export function listCompletions(root: Command, typed: readonly string[]): string[] {
  const line = typedLine(root, typed);
  const choices = nextChoices(line);
  if (expectsValue(line)) return [...choices];
  const commands = line.command.commands.map((child) => child.name());
  const options = line.command.options.flatMap(({ long }) => long ?? []);
  return [...commands, ...choices, ...options, '--help'].toSorted((a, b) => (a < b ? -1 : 1));
}

async function listNames(io: Io, root: Command, typed: readonly string[]): Promise<readonly string[]> {
  const line = typedLine(root, typed);
  const query = nextNames(line);
  return query === undefined ? [] : await readNames(io, line.words, query);
}

/** Names of commands end at the first other word. */
function typedLine(root: Command, typed: readonly string[]): TypedLine {
  let command = root;
  let depth = 0;
  for (const word of typed) {
    const child = command.commands.find((each) => each.name() === word);
    if (!child) break;
    command = child;
    depth += 1;
  }
  return { command, words: typed.slice(depth) };
}
