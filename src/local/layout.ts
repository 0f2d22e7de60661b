/** The paths of a local fleet inside its folder. */
import { join } from 'node:path';
import { mergedKubeconfigPath } from './pki/kubeconfig.ts';

export interface Layout {
  readonly root: string;
  readonly stateFile: string;
  /** Which `kubenode start` stops the fleet. */
  readonly claimFile: string;
  readonly kubeconfig: string;
  readonly logs: string;
  readonly etcd: { readonly dataFolder: string; readonly pkiFolder: string };
  /** The configuration and the data of the Prometheus beside the fleet, if there is one. */
  readonly prometheus: string;
  /** A folder for each cluster. */
  readonly clusters: string;
  cluster(name: string): ClusterLayout;
}

export interface ClusterLayout {
  readonly folder: string;
  readonly pkiFolder: string;
  /** The kubeconfig of the administrator. */
  readonly kubeconfig: string;
  readonly controllerManagerKubeconfig: string;
  readonly schedulerKubeconfig: string;
  /** The kubeconfig of our own controllers, which run beside a hosted control plane. */
  readonly controllersKubeconfig: string;
}

/** `up` creates only these names, and `down --wipe` deletes only these. */
export const OWN_NAMES = [
  'state.json',
  'start.json',
  'kubeconfig',
  'logs',
  'etcd',
  'etcd-pki',
  'clusters',
  'prometheus',
] as const;

/** Returns the data folder of a member of etcd: the first, and in a control plane others. */
export function etcdDataFolder({ etcd }: Pick<Layout, 'etcd'>, index: number): string {
  return index === 0 ? etcd.dataFolder : `${etcd.dataFolder}-${index}`;
}

export function createLayout(root: string): Layout {
  const clusters = join(root, 'clusters');
  return {
    root,
    stateFile: join(root, 'state.json'),
    claimFile: join(root, 'start.json'),
    kubeconfig: mergedKubeconfigPath(root),
    logs: join(root, 'logs'),
    etcd: { dataFolder: join(root, 'etcd'), pkiFolder: join(root, 'etcd-pki') },
    prometheus: join(root, 'prometheus'),
    clusters,
    cluster(name) {
      const folder = join(clusters, name);
      return {
        folder,
        pkiFolder: join(folder, 'pki'),
        kubeconfig: join(folder, 'kubeconfig'),
        controllerManagerKubeconfig: join(folder, 'controller-manager.kubeconfig'),
        schedulerKubeconfig: join(folder, 'scheduler.kubeconfig'),
        controllersKubeconfig: join(folder, 'controllers.kubeconfig'),
      };
    },
  };
}
