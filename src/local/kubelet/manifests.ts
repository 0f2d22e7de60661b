/** Builds the objects that put the stand-in kubelet on machines of this computer. Pure. */
import type { Machine, MachineComponentSpec } from '../../api/generated/types.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

export interface StandInArtifact {
  /** The URL of the bundle. */
  readonly url: string;
  readonly sha256: string;
  /** The folder of the Node.js that runs the bundle. */
  readonly nodeFolder: string;
}

const API_VERSION = 'kubenode.dev/v1alpha1';

/** Returns the component of the stand-in kubelet. Its version contains the digest of its content: another bundle is another version. */
export function standInComponent(
  kubernetesVersion: string,
  { url, sha256, nodeFolder }: StandInArtifact,
): KubeObject & { readonly spec: MachineComponentSpec } {
  const version = `${kubernetesVersion}-${sha256.slice(0, 8)}`;
  const argv = [
    '${dir}/kubelet',
    '--kubeconfig=${identity.kubeconfig}',
    '--hostname-override=${machine.name}',
    `--kubelet-version=v${kubernetesVersion}`,
    '--healthz-port=${port.healthz}',
  ];
  const probe = { periodSeconds: 5, timeoutSeconds: 2, successThreshold: 1, failureThreshold: 3 };
  const spec: MachineComponentSpec = {
    component: 'kubelet',
    version,
    description: 'Stand-in for a kubelet: a Node for tests and demonstrations, which runs no pods',
    identity: 'Kubelet',
    parameters: [],
    ports: [{ name: 'healthz', port: 10_248 }],
    artifacts: [{ os: 'any', arch: 'any', url, mirrors: [], sha256, format: 'Raw', install: [] }],
    files: [],
    units: [
      {
        name: 'kubelet',
        type: 'Service',
        enabled: true,
        running: true,
        timeoutSeconds: 300,
        // The program is found by its first line: env node.
        exec: { argv, env: { PATH: `${nodeFolder}:/usr/bin:/bin` }, user: 'root' },
        restart: { policy: 'Always', delaySeconds: 5, maxPerMinute: 10 },
        stop: { signal: 'TERM', timeoutSeconds: 30 },
        existing: false,
        dropIns: [],
      },
    ],
    probes: [{ name: 'healthz', http: { port: 'healthz', path: '/healthz', scheme: 'HTTP' }, ...probe }],
    activation: { class: 'Restart' },
    commitAfterSeconds: 10,
    keepVersions: 2,
    rollback: { supported: true },
    dependsOn: [],
  };
  const metadata = { name: `kubelet-${version}` };
  return { apiVersion: API_VERSION, kind: 'MachineComponent', metadata, spec };
}

/**
 * Returns a Machine that runs the component. The spec of the component contains every default, so that its digest is that of what the API
 * server stores.
 */
export function standInMachine(
  name: string,
  { metadata, spec }: ReturnType<typeof standInComponent>,
): KubeObject & { readonly spec: Pick<Machine['spec'], 'infra' | 'host' | 'components'> } {
  const entry = {
    name: spec.component,
    componentRef: metadata.name,
    digest: digestOf(spec),
    state: 'Present',
    parameters: {},
  } as const;
  const object = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name } };
  return {
    ...object,
    spec: { infra: { provider: 'local', config: {} }, host: { type: 'sandbox' }, components: [entry] },
  };
}
