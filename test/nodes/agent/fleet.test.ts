/**
 * The components of the example fleet on a real node, as they are declared, but for what cannot be here: the files are of Go modules and of
 * Debian, from a mirror, and the node is a container on a machine that others use.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { components } from '../../../fleet/components/index.ts';
import { versions } from '../../../fleet/versions.ts';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type AgentNode, startAgentNode } from '../../support/agent/agent-node.ts';
import { eventually } from '../../support/eventually.ts';
import { nodeBase } from '../../support/node-kit/base.ts';
import { containerdPrograms, noContainerdReason } from '../../support/node-kit/containerd.ts';
import { IMAGE, importImage } from '../../support/node-kit/image.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';

const reason = whyNoNodes() ?? (await noContainerdReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'n1';
const POD_CIDR = '10.244.7.0/24';
const WITHIN_MS = 600_000;
const HERE: Readonly<Record<string, string>> = {
  cgroupDriver: 'cgroupfs',
  failCgroupV1: 'false',
  pauseImage: IMAGE,
  resolvConf: '/dev/null',
  systemdCgroup: 'false',
};
const KUBELET_HERE = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '0%', 'memory.available': '1Mi' },
  localStorageCapacityIsolation: false,
};
/** By the files that other components may add. Without CAP_SYS_RESOURCE no process can lower its score. */
const CONTAINER: object = {
  component: 'container',
  version: '1.0.0',
  files: [
    { path: '/etc/kubernetes/kubelet.conf.d/90-container.conf', content: JSON.stringify(KUBELET_HERE) },
    {
      path: '/etc/containerd/conf.d/container.toml',
      content: "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\nrestrict_oom_score_adj = true\n",
    },
  ],
  activation: { class: 'None' },
  commitAfterSeconds: 1,
};

/** Of the nodes of other tests, which have the runtime of Debian. */
const BARE = `set -e
systemctl disable --quiet --now containerd
rm -f /lib/systemd/system/containerd.service /usr/bin/containerd* /usr/bin/ctr /usr/sbin/runc
rm -rf /usr/lib/cni /etc/containerd /etc/cni /var/lib/containerd
systemctl daemon-reload
`;

describe.skipIf(reason)(`the example fleet${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  const folder = tempFolder('releases');
  let agent: AgentNode;
  let base: string;

  beforeAll(async () => {
    [agent, base] = [await startAgentNode(NAME), await nodeBase()];
    await agent.node.run('sh', '-c', BARE);
  });
  afterAll(() => agent?.[Symbol.asyncDispose]());

  /** As in the fleet, with the file of a mirror after the URL of the publisher, which is not reached. */
  async function mirrored(name: keyof typeof versions, file: string): Promise<object> {
    const spec = components.find((each) => each.component === name && each.version === versions[name]);
    const [artifact] = spec?.artifacts ?? [];
    if (!spec || !artifact) throw new Error(`the fleet declares no artifact of ${name}`);
    const { url, sha256 } = await agent.serve(file);
    const parameters = (spec.parameters ?? []).map((each) => ({
      ...each,
      default: HERE[each.name] ?? each.default,
    }));
    const artifacts = [
      { ...artifact, url: 'http://127.0.0.1:9/unreachable', arch: 'any', mirrors: [url], sha256 },
    ];
    return { ...spec, parameters, artifacts };
  }

  /** Archives as those of the publishers: the same paths. */
  function archive(name: string, files: Readonly<Record<string, string>>): string {
    const root = join(folder, name);
    for (const [path, from] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      copyFileSync(from, join(root, path));
    }
    const output = `${root}.tar.gz`;
    execFileSync('tar', ['-czf', output, '-C', root, ...Object.keys(files)]);
    return output;
  }

  async function publishAll(): Promise<readonly MachineComponentSpec[]> {
    const [containerd = '', shim = ''] = await containerdPrograms();
    const programs = [
      'bandwidth',
      'bridge',
      'firewall',
      'host-local',
      'loopback',
      'portmap',
      'ptp',
      'tuning',
    ];
    const plugins = Object.fromEntries(programs.map((each) => [each, join(base, 'usr/lib/cni', each)]));
    const archives = {
      containerd: archive('containerd', {
        'bin/containerd': containerd,
        'bin/containerd-shim-runc-v2': shim,
        'bin/ctr': join(base, 'usr/bin/ctr'),
      }),
      plugins: archive('cni-plugins', plugins),
    };
    const tuning = components.find(({ component }) => component === 'node-tuning');
    const specs = [
      CONTAINER,
      // The kernel is that of this machine: its modules and settings stay as they are.
      { ...tuning, files: [], units: [{ ...tuning?.units?.[0], exec: { argv: ['/bin/true'] } }] },
      await mirrored('runc', join(base, 'usr/sbin/runc')),
      await mirrored('cni-plugins', archives.plugins),
      await mirrored('containerd', archives.containerd),
      await mirrored('kubelet', await kubeletBinary()),
    ].map((spec) => withContainer(spec));
    const published: MachineComponentSpec[] = [];
    for (const spec of specs) published.push(await agent.publish(spec));
    return published;
  }

  it('AGT-14 brings a host with nothing but an agent to a Ready Node, from runc to the kubelet', async () => {
    await agent.declare(await publishAll());
    await agent.reported('containerd', { state: 'Committed', ready: true });
    await importImage(agent.node);
    const { client } = agent.installed.server;
    const node = (): Promise<KubeObject | undefined> =>
      client.get(NODES, { name: NAME }).catch(() => undefined);
    await eventually(node, 'the Node was not registered', WITHIN_MS);
    const spec = { podCIDR: POD_CIDR, podCIDRs: [POD_CIDR] };
    await client.patch(NODES, { name: NAME }, { type: 'merge', body: { spec } });
    await agent.reported('kubelet', { state: 'Committed', ready: true });
    const { stdout } = await agent.node.run('readlink', '-f', '/usr/local/sbin/runc');
    expect(stdout).toMatch(/^\/opt\/kubenode\/runc\//);
  });

  it('AGT-14 runs a pod with an address of its Node', async () => {
    const { client } = agent.installed.server;
    const metadata = { name: 'default', namespace: 'default' };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
    await client.apply(await client.resourceFor('v1', 'ServiceAccount'), account, {
      fieldManager: 'test',
    });
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'sleeper', namespace: 'default' },
      spec: {
        nodeName: NAME,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'sleep', image: IMAGE, imagePullPolicy: 'Never' }],
      },
    };
    await client.apply(PODS, pod, { fieldManager: 'test' });
    const running = async (): Promise<string | undefined> => {
      const found = await client.get<PodObject>(PODS, { name: 'sleeper', namespace: 'default' });
      return found.status?.phase === 'Running' ? found.status.podIP : undefined;
    };
    const address = await eventually(running, 'the pod does not run', WITHIN_MS).catch(
      async (error: unknown) => {
        throw new Error(`${String(error)}\n${(await agent.log()).slice(-20_000)}`, { cause: error });
      },
    );
    expect(address).toMatch(/^10\.244\.7\.\d+$/);
  });
});

interface PodObject extends KubeObject {
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/** What differs here is on the host before the programs that read it start. */
function withContainer(spec: object): object {
  const { component, dependsOn } = spec as Partial<MachineComponentSpec>;
  const needsIt = component === 'containerd' || component === 'kubelet';
  return needsIt ? { ...spec, dependsOn: [...(dependsOn ?? []), { component: 'container' }] } : spec;
}
