/** The command line: all commands, one file or folder each. */
import { Command } from 'commander';
import { completionCommand } from './commands/completion.ts';
import { explainCommand } from './commands/explain/explain.ts';
import { historyCommand } from './commands/history.ts';
import { initCommand } from './commands/init/init.ts';
import { installCommand } from './commands/install.ts';
import { localCommand } from './commands/local/local.ts';
import { planCommand } from './commands/plan/plan.ts';
import { releaseCommand } from './commands/release/release.ts';
import { renderCommand } from './commands/render.ts';
import { startCommand } from './commands/start.ts';
import { statusCommand } from './commands/status.ts';
import { syncCommand } from './commands/sync/sync.ts';
import { validateCommand } from './commands/validate.ts';
import { KUBENODE_VERSION, versionCommand } from './commands/version.ts';
import type { Io } from './io.ts';

const FOOTER = `
Every command has its own --help. Exit codes: 0 success, 1 failure, 2 changes found (plan, install --dry-run),
3 would be held (plan), 64 wrong usage, 65 invalid input, 69 unavailable, 77 permission denied, 130 interrupted.
Commands find the API server by --kubeconfig, then $KUBECONFIG, then ~/.kube/config, then the local fleet.`;

export function createProgram(io: Io): Command {
  const root = new Command('kubenode')
    .description('Kubernetes nodes from git, with a rule engine.')
    .version(KUBENODE_VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', FOOTER)
    .showSuggestionAfterError(true);
  const commands = [
    startCommand(io),
    localCommand(io),
    installCommand(io),
    initCommand(io),
    renderCommand(io),
    planCommand(io),
    syncCommand(io),
    statusCommand(io),
    releaseCommand(io),
    historyCommand(io),
    validateCommand(io),
    explainCommand(io),
    versionCommand(io),
    completionCommand(io, () => root),
  ];
  for (const command of commands) root.addCommand(command);
  configure(root, io);
  return root;
}

/** No command ends the process or bypasses `io`: main.ts sets the exit code. */
function configure(command: Command, io: Io): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => io.out(text),
    writeErr: (text) => io.err(text),
    getOutHasColors: () => io.color,
  });
  for (const child of command.commands) configure(child, io);
}
