/** Where the parts of a local fleet lie in its folder. */
import { join } from 'node:path';
import { mergedKubeconfig } from './pki/kubeconfig.ts';

export interface Layout {
  readonly root: string;
  readonly stateFile: string;
  readonly kubeconfig: string;
  readonly logs: string;
  readonly etcd: { readonly dataFolder: string; readonly pkiFolder: string };
  cluster(name: string): ClusterLayout;
}

export interface ClusterLayout {
  readonly folder: string;
  readonly pkiFolder: string;
  /** Of the administrator. */
  readonly kubeconfig: string;
  readonly controllerManagerKubeconfig: string;
  readonly schedulerKubeconfig: string;
}

/** Everything that `up` makes lies under one of these names, and `down --wipe` removes nothing else. */
export const OWN_NAMES = ['state.json', 'kubeconfig', 'logs', 'etcd', 'etcd-pki', 'clusters'] as const;

export function layoutOf(root: string): Layout {
  return {
    root,
    stateFile: join(root, 'state.json'),
    kubeconfig: mergedKubeconfig(root),
    logs: join(root, 'logs'),
    etcd: { dataFolder: join(root, 'etcd'), pkiFolder: join(root, 'etcd-pki') },
    cluster(name) {
      const folder = join(root, 'clusters', name);
      return {
        folder,
        pkiFolder: join(folder, 'pki'),
        kubeconfig: join(folder, 'kubeconfig'),
        controllerManagerKubeconfig: join(folder, 'controller-manager.kubeconfig'),
        schedulerKubeconfig: join(folder, 'scheduler.kubeconfig'),
      };
    },
  };
}
