/**
 * The command line: all commands, one file or folder each. Only the command that runs is loaded: all of them have 2,400 modules,
 * which would take more time than most answers.
 */
import { Command } from 'commander';
import { createCompletionCommand } from './commands/completion/completion.ts';
import { createVersionCommand } from './commands/version.ts';
import type { Io } from './io.ts';
import { noteCommand } from './runnable.ts';
import { KUBENODE_VERSION } from './version.ts';

const FOOTER = `
Every command has its own --help. Exit codes: 0 success, 1 failure, 2 changes found (plan, install --dry-run), newer
versions (component outdated) or missing artifacts (mirror sync --dry-run), 3 would be held (plan), a check failed (import), denied (defender ask) or waits for a person (rollout watch,
remedy watch), 64 wrong usage, 65 invalid input, 69 unavailable, 77 permission denied, 130 interrupted.
Commands find the API server by --kubeconfig, then $KUBECONFIG, then ~/.kube/config, then the local fleet.`;

/** In the order of the help. */
const COMMANDS: Readonly<Record<string, (io: Io) => Promise<Command>>> = {
  start: async (io) => (await import('./commands/start.ts')).createStartCommand(io),
  tour: async (io) => (await import('./commands/tour.ts')).createTourCommand(io),
  local: async (io) => (await import('./commands/local/local.ts')).createLocalCommand(io),
  install: async (io) => (await import('./commands/install/install.ts')).createInstallCommand(io),
  init: async (io) => (await import('./commands/init.ts')).createInitCommand(io),
  render: async (io) => (await import('./commands/render.ts')).createRenderCommand(io),
  plan: async (io) => (await import('./commands/plan.ts')).createPlanCommand(io),
  sync: async (io) => (await import('./commands/sync/sync.ts')).createSyncCommand(io),
  controllers: async (io) =>
    (await import('./commands/controllers/controllers.ts')).createControllersCommand(io),
  defender: async (io) => (await import('./commands/defender/defender.ts')).createDefenderCommand(io),
  fleet: async (io) => (await import('./commands/fleet/fleet.ts')).createFleetCommand(io),
  hosting: async (io) => (await import('./commands/hosting/hosting.ts')).createHostingCommand(io),
  console: async (io) => (await import('./commands/console/console.ts')).createConsoleCommand(io),
  status: async (io) => (await import('./commands/status/status.ts')).createStatusCommand(io),
  why: async (io) => (await import('./commands/why/why.ts')).createWhyCommand(io),
  release: async (io) => (await import('./commands/release/release.ts')).createReleaseCommand(io),
  rollback: async (io) => (await import('./commands/rollback/rollback.ts')).createRollbackCommand(io),
  freeze: async (io) => (await import('./commands/freeze/freeze.ts')).createFreezeCommand(io),
  history: async (io) => (await import('./commands/history.ts')).createHistoryCommand(io),
  audit: async (io) => (await import('./commands/audit/audit.ts')).createAuditCommand(io),
  report: async (io) => (await import('./commands/report.ts')).createReportCommand(io),
  rollout: async (io) => (await import('./commands/rollout/rollout.ts')).createRolloutCommand(io),
  remedy: async (io) => (await import('./commands/remedy/remedy.ts')).createRemedyCommand(io),
  maintenance: async (io) =>
    (await import('./commands/maintenance/maintenance.ts')).createMaintenanceCommand(io),
  machine: async (io) => (await import('./commands/machine/machine.ts')).createMachineCommand(io),
  cluster: async (io) => (await import('./commands/cluster/cluster.ts')).createClusterCommand(io),
  provider: async (io) => (await import('./commands/provider/provider.ts')).createProviderCommand(io),
  pool: async (io) => (await import('./commands/pool/pool.ts')).createPoolCommand(io),
  import: async (io) => (await import('./commands/import/import.ts')).createImportCommand(io),
  component: async (io) => (await import('./commands/component/component.ts')).createComponentCommand(io),
  mirror: async (io) => (await import('./commands/mirror/mirror.ts')).createMirrorCommand(io),
  agent: async (io) => (await import('./commands/agent/agent.ts')).createAgentCommand(io),
  validate: async (io) => (await import('./commands/validate.ts')).createValidateCommand(io),
  rules: async (io) => (await import('./commands/rules/rules.ts')).createRulesCommand(io),
  explain: async (io) => (await import('./commands/explain.ts')).createExplainCommand(io),
  version: (io) => Promise.resolve(createVersionCommand(io)),
};

const VERSION_FLAGS = '-V, --version';

/** Creates the program with the command that these arguments name, with none for the version, or with all for help, completion and corrections. */
export async function createProgram(io: Io, [name = '']: readonly string[]): Promise<Command> {
  const root = new Command('kubenode')
    .description('Kubernetes nodes from git, with a rule engine.')
    .version(KUBENODE_VERSION, VERSION_FLAGS, 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', FOOTER)
    // Otherwise --version of a command would be that of kubenode.
    .enablePositionalOptions()
    .showSuggestionAfterError(true);
  const isVersion = VERSION_FLAGS.split(', ').includes(name);
  const needsAll = !isVersion && !Object.hasOwn(COMMANDS, name);
  const loads = Object.entries(COMMANDS).filter(([each]) => needsAll || each === name);
  const commands = await Promise.all(loads.map(([, load]) => load(io)));
  for (const command of commands) root.addCommand(command);
  if (needsAll) root.addCommand(createCompletionCommand(io, () => root));
  configure(root, io);
  return root.hook('preAction', (_, command) => noteCommand(io, command));
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
