/** The command line: all commands, one file or folder each. */
import { Command } from 'commander';
import { createAgentCommand } from './commands/agent/agent.ts';
import { createCompletionCommand } from './commands/completion.ts';
import { createControllersCommand } from './commands/controllers/controllers.ts';
import { createDefenderCommand } from './commands/defender/defender.ts';
import { createExplainCommand } from './commands/explain/explain.ts';
import { createHistoryCommand } from './commands/history.ts';
import { createInitCommand } from './commands/init/init.ts';
import { createInstallCommand } from './commands/install.ts';
import { createLocalCommand } from './commands/local/local.ts';
import { createMachineCommand } from './commands/machine/machine.ts';
import { createPlanCommand } from './commands/plan/plan.ts';
import { createReleaseCommand } from './commands/release/release.ts';
import { createRenderCommand } from './commands/render.ts';
import { createStartCommand } from './commands/start.ts';
import { createStatusCommand } from './commands/status.ts';
import { createSyncCommand } from './commands/sync/sync.ts';
import { createValidateCommand } from './commands/validate.ts';
import { createVersionCommand, KUBENODE_VERSION } from './commands/version.ts';
import { createWhyCommand } from './commands/why/why.ts';
import type { Io } from './io.ts';

const FOOTER = `
Every command has its own --help. Exit codes: 0 success, 1 failure, 2 changes found (plan, install --dry-run),
3 would be held (plan) or denied (defender ask), 64 wrong usage, 65 invalid input, 69 unavailable, 77 permission denied, 130 interrupted.
Commands find the API server by --kubeconfig, then $KUBECONFIG, then ~/.kube/config, then the local fleet.`;

export function createProgram(io: Io): Command {
  const root = new Command('kubenode')
    .description('Kubernetes nodes from git, with a rule engine.')
    .version(KUBENODE_VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', FOOTER)
    .showSuggestionAfterError(true);
  const commands = [
    createStartCommand(io),
    createLocalCommand(io),
    createInstallCommand(io),
    createInitCommand(io),
    createRenderCommand(io),
    createPlanCommand(io),
    createSyncCommand(io),
    createControllersCommand(io),
    createDefenderCommand(io),
    createStatusCommand(io),
    createWhyCommand(io),
    createReleaseCommand(io),
    createHistoryCommand(io),
    createMachineCommand(io),
    createAgentCommand(io),
    createValidateCommand(io),
    createExplainCommand(io),
    createVersionCommand(io),
    createCompletionCommand(io, () => root),
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
