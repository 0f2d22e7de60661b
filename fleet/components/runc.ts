import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';

/** The path that containerd starts: fleet/components/containerd-config.ts. */
export const RUNC = '/usr/local/sbin/runc';

export const runcReleases = componentReleases({
  component: 'runc',
  url: 'https://github.com/opencontainers/runc/releases/download/v{version}/runc.{arch}',
  install: [{ from: 'runc', to: RUNC }],
  versions: {
    '1.4.3': {
      amd64: 'f6ae8efc0fa40079e1475e97cbe9d1bd3f106a28d6af78a11d9f1bd565515e60',
      arm64: '633301e2e32f8a5ad54031aab4901eb00308bec677dd15faa2751e8f9dab5ca4',
    },
    '1.4.2': {
      amd64: 'ac8a90f9e225bb9322189937b230cdc5478d5753f0e31e1bda98a5cf06bd9539',
      arm64: 'ea54032310588e115633aa2f4bba8bf9500257f657e1deca88df5778775138db',
    },
  },
});

/** Containers that run keep the program that started them, so that an update disturbs none. */
export function runc({ component, version, artifacts }: ComponentRelease): MachineComponentSpec {
  return {
    component,
    version,
    description: 'Starts the processes of containers',
    artifacts,
    probes: [{ name: 'starts', exec: { argv: [RUNC, '--version'] }, periodSeconds: 60, timeoutSeconds: 10 }],
    activation: { class: 'None' },
    commitAfterSeconds: 5,
  };
}
