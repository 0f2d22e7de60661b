import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';
import { CONTAINERD_SOCKET } from './containerd-config.ts';

const PROGRAM = '/usr/local/bin/crictl';

export const crictlReleases = componentReleases({
  component: 'crictl',
  url: 'https://github.com/kubernetes-sigs/cri-tools/releases/download/v{version}/crictl-v{version}-linux-{arch}.tar.gz',
  format: 'TarGz',
  install: [{ from: 'crictl', to: PROGRAM }],
  versions: {
    '1.36.0': {
      amd64: '83855e114566a8a8c44c548d515670f51de3a5e1da8b2effb59870e2f10c25a3',
      arm64: '68328594ccf780a80ae2b092d9f6ce484eec7cf540c275242e8fd954bfd95332',
    },
    '1.35.0': {
      amd64: '2e141e5b22cb189c40365a11807d69b76b9b3caced89fac2f4ec879408ce2177',
      arm64: '519071de89b64c43e2a1661bb5489c6c3fd5e9e5fcef75e50e542b0c891f1118',
    },
  },
});

/** Repairs use it to remove images (docs/concepts/repair-jobs.md), people to look at containers. */
export function crictl({ component, version, artifacts }: ComponentRelease): MachineComponentSpec {
  const endpoint = `unix://${CONTAINERD_SOCKET}`;
  return {
    component,
    version,
    description: 'Shows containers and images of the runtime, and removes unused images',
    artifacts,
    files: [
      {
        path: '/etc/crictl.yaml',
        content: `runtime-endpoint: ${endpoint}\nimage-endpoint: ${endpoint}\n`,
        onChange: 'None',
      },
    ],
    probes: [
      { name: 'runtime', exec: { argv: [PROGRAM, 'version'] }, periodSeconds: 60, timeoutSeconds: 10 },
    ],
    activation: { class: 'None' },
    commitAfterSeconds: 5,
    dependsOn: [{ component: 'containerd' }],
  };
}
