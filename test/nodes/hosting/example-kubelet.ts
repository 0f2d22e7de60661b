/** The kubelet of the example fleet on a real node, a pod on it, and the port on which it is asked. */
import { once } from 'node:events';
import { request } from 'node:https';
import { components } from '../../../fleet/components/index.ts';
import { versions } from '../../../fleet/versions.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { IMAGE } from '../../support/node-kit/image.ts';
import { KUBELET_CONFIGURATION } from '../../support/node-kit/kubelet.ts';

export const POD = { name: 'sleeper', namespace: 'default' };
const PORT = 10_250;

/** As the example fleet declares it, but for the file, which is of Go modules, and for what cannot be in a container on a shared machine. */
export function exampleKubelet({ url, sha256 }: { readonly url: string; readonly sha256: string }): object {
  const spec = components.find(
    ({ component, version }) => component === 'kubelet' && version === versions.kubelet,
  );
  if (!spec) throw new Error('the fleet declares no kubelet');
  const here: Readonly<Record<string, string>> = {
    cgroupDriver: 'cgroupfs',
    failCgroupV1: 'false',
    resolvConf: '/dev/null',
  };
  const {
    apiVersion,
    kind,
    cgroupsPerQOS,
    enforceNodeAllocatable,
    evictionHard,
    localStorageCapacityIsolation,
  } = KUBELET_CONFIGURATION;
  const content = JSON.stringify({
    apiVersion,
    kind,
    cgroupsPerQOS,
    enforceNodeAllocatable,
    evictionHard,
    localStorageCapacityIsolation,
  });
  return {
    ...spec,
    parameters: spec.parameters?.map((each) => ({ ...each, default: here[each.name] ?? each.default })),
    artifacts: [{ os: 'linux', arch: 'any', url, sha256, format: 'Raw', install: [] }],
    files: [...(spec.files ?? []), { path: '/etc/kubernetes/kubelet.conf.d/90-container.conf', content }],
    // The containerd of Debian.
    dependsOn: [{ component: 'containerd' }],
  };
}

export function podManifest(nodeName: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: POD,
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'sleep', image: IMAGE, imagePullPolicy: 'Never' }],
    },
  };
}

/** Asks the port of the kubelet with the client certificate of a kubeconfig. The certificate that a kubelet serves is its own. */
export async function askKubelet(host: string, kubeconfig: string): Promise<number | undefined> {
  const [cert, key] = ['certificate', 'key'].map((name) => {
    const found = new RegExp(`^ +client-${name}-data: (?<data>.*)$`, 'm').exec(kubeconfig);
    return Buffer.from(found?.groups?.['data'] ?? '', 'base64');
  });
  const asked = request({ host, port: PORT, path: '/pods', cert, key, rejectUnauthorized: false });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [{ readonly statusCode?: number; resume(): void }];
  answer.resume();
  return answer.statusCode;
}
