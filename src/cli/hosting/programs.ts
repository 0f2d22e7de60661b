/** The programs of hosted control planes: those of Kubernetes, and our own controllers. */
import type { BalancerCommand } from '../../controllers/hosting/drivers/process/api-servers/balancers.ts';
import type { ControllersCommand } from '../../controllers/hosting/drivers/process/members.ts';
import type { Programs } from '../../controllers/hosting/drivers/process/programs.ts';
import { readVersion } from '../../controllers/hosting/drivers/process/running.ts';
import { type Binaries, createProgramLookup } from '../../local/binaries/binaries.ts';
import { resolveBinaries } from '../../local/binaries/resolve.ts';
import type { Io } from '../io.ts';
import { BALANCER_PROGRAM, OWN_PROGRAM, ownProgramEnv } from '../own-program.ts';

const NEEDED = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/**
 * Finds, downloads or builds the programs of one version, or takes those of each folder. The versions are those that the programs themselves
 * print.
 */
export async function loadPrograms(
  { env, clock, signal }: Pick<Io, 'env' | 'clock' | 'signal'>,
  assets: readonly string[],
  onStep: (step: string) => void,
): Promise<readonly Programs[]> {
  const folders = assets.length > 0 ? assets : [undefined];
  const sets: Programs[] = [];
  for (const folder of folders) {
    const options = { env, assets: folder, clock, signal, onStep, programs: NEEDED };
    sets.push(await describePrograms(await resolveBinaries(options)));
  }
  return sets;
}

async function describePrograms(binaries: Binaries): Promise<Programs> {
  const path = createProgramLookup(binaries);
  const [version, etcdVersion] = await Promise.all(
    (['kube-apiserver', 'etcd'] as const).map((name) => readVersion(path(name), name)),
  );
  if (version !== undefined && etcdVersion !== undefined) return { path, version, etcdVersion };
  throw new Error(
    `kube-apiserver and etcd of ${binaries.folder} do not print their versions: check that they run on this machine`,
  );
}

/**
 * Returns how the controllers of a control plane are started. One argument for each setting: the kubeconfig is the mark by which the process
 * is recognized. With `localMachines` they create the machines of provider local below the folder of the control plane, which has the
 * layout of a local fleet.
 */
export function controllersCommand(localMachines: boolean): ControllersCommand {
  return ({ cluster, root, kubeconfig, port, serverForHosts: url }) => {
    const outside = url === undefined ? [] : [`--server-for-hosts=${url}`];
    const own = [`--kubeconfig=${kubeconfig}`, `--port=${port}`, ...outside, '--log-level=warn'];
    const machines = localMachines ? [`--local-machines=${cluster}`, `--local-dir=${root}`] : [];
    return {
      program: process.execPath,
      args: [...process.execArgv, OWN_PROGRAM, 'controllers', ...own, ...machines],
      env: ownProgramEnv(process.env),
    };
  };
}

/** Returns how a balancer or a gateway is started. It keeps the port of clients over restarts of hosting, as the other members do. */
export const balancerCommand: BalancerCommand = ({ port, isOutside, healthPort, backends, caFile }) => ({
  program: process.execPath,
  args: [
    ...process.execArgv,
    BALANCER_PROGRAM,
    `--port=${port}`,
    ...(isOutside ? ['--all-addresses'] : []),
    `--health-port=${healthPort}`,
    `--backends=${backends.join(',')}`,
    `--ca-file=${caFile}`,
  ],
  env: ownProgramEnv(process.env),
});
