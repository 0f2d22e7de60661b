/** The programs of hosted control planes: those of Kubernetes, and our own controllers. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ControllersCommand } from '../../controllers/hosting/drivers/process/members.ts';
import type { Programs } from '../../controllers/hosting/drivers/process/programs.ts';
import { createProgramLookup } from '../../local/binaries/binaries.ts';
import { resolveBinaries } from '../../local/binaries/resolve.ts';
import type { Io } from '../io.ts';
import { OWN_PROGRAM } from '../own-program.ts';

const NEEDED = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Finds, downloads or builds them. The version is the one that the program itself prints. */
export async function loadPrograms(
  { env, clock, signal }: Pick<Io, 'env' | 'clock' | 'signal'>,
  assets: string | undefined,
  onStep: (step: string) => void,
): Promise<Programs> {
  const binaries = await resolveBinaries({ env, assets, clock, signal, onStep, programs: NEEDED });
  const { stdout } = await promisify(execFile)(join(binaries.folder, 'kube-apiserver'), ['--version']);
  return { path: createProgramLookup(binaries), version: stdout.trim().split(' ').at(-1) ?? '' };
}

/**
 * Returns how the controllers of a control plane are started. One argument for each setting: the kubeconfig is the mark by which the process
 * is recognized. With `localMachines` they create the machines of provider local below the folder of the control plane, which has the
 * layout of a local fleet.
 */
export function controllersCommand(localMachines: boolean): ControllersCommand {
  return ({ cluster, root, kubeconfig, port }) => {
    const own = [`--kubeconfig=${kubeconfig}`, `--port=${port}`, '--log-level=warn'];
    const machines = localMachines ? [`--local-machines=${cluster}`, `--local-dir=${root}`] : [];
    return {
      program: process.execPath,
      args: [...process.execArgv, OWN_PROGRAM, 'controllers', ...own, ...machines],
    };
  };
}
