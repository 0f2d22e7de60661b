/** Finds programs of kubenode that a person started by hand and that use a local fleet. Pure. */
import { basename, join, resolve } from 'node:path';
import { stateFolder } from '../../local/folders.ts';
import { fleetHostingFolder } from '../hosting/folder.ts';

/** A process, as /proc shows it. */
export interface KubenodeProcess {
  readonly pid: number;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory; undefined if it is not known. */
  readonly cwd: string | undefined;
  /** Whether its user has ~/.kube/config, which comes before the local fleet. */
  readonly hasUserKubeconfig: boolean;
}

export interface FleetUser {
  readonly pid: number;
  /** The arguments of kubenode, without the program. */
  readonly args: readonly string[];
  /** The command, such as `kubenode controllers --context test`. */
  readonly command: string;
  /** Whether it creates machines or control planes in the folders of the fleet: they must not be deleted while it runs. */
  readonly createsProcesses: boolean;
}

/** The commands that run until they are ended. */
const LONG_RUNNING = ['sync', 'controllers', 'console', 'agent', 'hosting'];
const PROGRAM = /\/(cli\/main\.[jt]s|kubenode|kubenode\.js)$/;

/** Selects the programs that use the fleet in this folder, sorted by pid. */
export function selectFleetUsers(programs: readonly KubenodeProcess[], root: string): readonly FleetUser[] {
  const users = programs.flatMap((program) => {
    const args = kubenodeArgs(program.command);
    const [name = ''] = args;
    if (!LONG_RUNNING.includes(name) || !usesFleet(program, args, root)) return [];
    const command = ['kubenode', ...args].join(' ');
    const createsProcesses = name === 'controllers' || hostsPlanes(program, args, root);
    return [{ pid: program.pid, args, command, createsProcesses }];
  });
  return users.toSorted((a, b) => a.pid - b.pid);
}

/** Returns the arguments of kubenode; empty if it is another program. */
function kubenodeArgs(command: readonly string[]): readonly string[] {
  const main = command.findIndex((argument) => PROGRAM.test(argument));
  const isNode = /^(node|kubenode)/.test(basename(command[0] ?? '')) || main === 0;
  return isNode && main >= 0 ? command.slice(main + 1) : [];
}

function usesFleet(program: KubenodeProcess, args: readonly string[], root: string): boolean {
  const { cwd = '/' } = program;
  const paths = [...valuesOf(args, '--local-dir'), ...kubeconfigs(program, args)];
  const isIn = paths.map((path) => resolve(cwd, path)).some((path) => `${path}/`.startsWith(`${root}/`));
  return isIn || hostsPlanes(program, args, root);
}

/** Tells whether it creates control planes in the folder that is stopped and deleted with the fleet. */
function hostsPlanes({ cwd = '/' }: KubenodeProcess, args: readonly string[], root: string): boolean {
  const folders = args[0] === 'hosting' ? valuesOf(args, '--dir') : [];
  return folders.some((folder) => resolve(cwd, folder) === fleetHostingFolder(root));
}

/** Lists the kubeconfigs in the order in which a command looks for them. */
function kubeconfigs(
  { env, hasUserKubeconfig }: KubenodeProcess,
  args: readonly string[],
): readonly string[] {
  const named = valuesOf(args, '--kubeconfig');
  if (named.length > 0) return named;
  const variable = (env['KUBECONFIG'] ?? '').split(':').filter((path) => path !== '');
  if (variable.length > 0) return variable;
  return hasUserKubeconfig ? [] : [join(stateFolder(env), 'kubeconfig')];
}

/** Returns the values of an option in both of its forms: `--port 1` and `--port=1`. */
export function valuesOf(args: readonly string[], option: string): readonly string[] {
  return args.flatMap((argument, index) => {
    if (argument.startsWith(`${option}=`)) return [argument.slice(option.length + 1)];
    return argument === option ? args.slice(index + 1, index + 2) : [];
  });
}
