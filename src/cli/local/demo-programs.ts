/** Finds the programs of a running `kubenode start --demo` by their command lines: processes of another fleet are never found. Pure. */
import type { ProcessIdentity } from '../../os/process/identity.ts';

export interface DemoProgram {
  /** The name of the program: `sync`, `hosting`, or `controllers CLUSTER`. */
  readonly name: string;
  readonly identity: ProcessIdentity;
}

/** Selects the programs of the fleet with this kubeconfig, sorted by name. */
export function selectPrograms(
  processes: readonly ProcessIdentity[],
  kubeconfig: string,
): readonly DemoProgram[] {
  const found = processes.flatMap((identity) => {
    const name = nameOf(identity.command, kubeconfig);
    return name === undefined ? [] : [{ name, identity }];
  });
  return found.toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Returns the folder that the sync of the fleet reads. */
export function repositoryOf(programs: readonly DemoProgram[]): string | undefined {
  const sync = programs.find(({ name }) => name === 'sync');
  return sync && valueOf(sync.identity.command, '--from');
}

/** Returns the port on which the sync of the fleet receives webhooks. Undefined: it receives none. */
export function webhookPortOf(programs: readonly DemoProgram[]): number | undefined {
  const sync = programs.find(({ name }) => name === 'sync');
  const port = sync && valueOf(sync.identity.command, '--webhook-port');
  return port === undefined ? undefined : Number(port);
}

const MAIN = /\/cli\/main\.[jt]s$/;

function nameOf(command: readonly string[], kubeconfig: string): string | undefined {
  const main = command.findIndex((argument) => MAIN.test(argument));
  if (main < 0 || valueOf(command, '--kubeconfig') !== kubeconfig) return undefined;
  const name = command[main + 1];
  if (name === 'sync' || name === 'hosting') return name;
  return name === 'controllers' ? `${name} ${valueOf(command, '--context') ?? ''}` : undefined;
}

function valueOf(args: readonly string[], option: string): string | undefined {
  const index = args.indexOf(option);
  return index < 0 ? undefined : args[index + 1];
}
