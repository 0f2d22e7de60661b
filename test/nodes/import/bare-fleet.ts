/** A real cluster with two bare hosts, and the components that a Machine on them needs: containerd, a kubelet, and a small program. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { applyFleetDefault } from '../../cluster/defender/objects.ts';
import { type BareHost, type NodeCluster, startNodeCluster } from '../../support/agent/node-cluster.ts';
import { containerdComponent, kubeletComponent } from '../../support/agent/node-components.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import type { TestNode } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { type Journal, startJournal } from '../journal.ts';
import type { ObservedFleet } from '../observed-fleet.ts';

export interface BareFleet extends ObservedFleet, AsyncDisposable {
  readonly cluster: NodeCluster;
  readonly hosts: readonly BareHost[];
  readonly journal: Journal;
  /** What a person writes into `spec.components`: names, versions and digests. */
  pins(greeter: string): readonly PinnedVersion[];
  /** Runs kubectl as an administrator. Returns what it prints. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Writes the objects to a file, and has kubectl apply it on the server. */
  apply(...objects: readonly object[]): Promise<string>;
}

export interface PinnedVersion {
  readonly name: string;
  readonly componentRef: string;
  readonly digest: string;
}

/** The small program, whose only argument is its version. */
export const GREETER = 'greeter';
export const GREETER_VERSIONS = ['1.0.0', '2.0.0'] as const;
/** Without it a kubelet looks for its Node in the DNS, by a name that is not that of the host: where no server answers, it starts late. */
const NODE_IP = '--node-ip=${machine.address}';
/** A set assigns no kubelet that is too old for the API server. */
const KUBELET_VERSION = CONTROL_PLANE_VERSION.slice(1);
const CONTAINERD_VERSION = '1.0.0';
/** Versions that a MachineComponentSet assigns. */
export const BASE_VERSIONS = {
  containerd: `containerd-${CONTAINERD_VERSION}`,
  kubelet: `kubelet-${KUBELET_VERSION}`,
} as const;

/** One machine at a time, which may serve nothing meanwhile. */
const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'one', per: 'Cluster', risks: ['Node', 'Machine'], max: 1 }],
  counting: { lingerSeconds: 0, smallPool: { below: 1, max: 1 } },
  zones: { haltPercent: 100, minNodes: 1000 },
};

export async function startBareFleet(names: readonly string[]): Promise<BareFleet> {
  const cluster = await startNodeCluster({ imports: true });
  const { client } = cluster.installed.server;
  let journal: Journal | undefined;
  const end = async (): Promise<void> => {
    try {
      await journal?.[Symbol.asyncDispose]();
    } finally {
      await cluster[Symbol.asyncDispose]();
    }
  };
  try {
    await applyFleetDefault(cluster.installed, POLICY);
    const digests = await publishAll(cluster);
    journal = await startJournal(client, GREETER);
    const hosts = await Promise.all(names.map((name) => cluster.bootBare(name)));
    return {
      cluster,
      client,
      hosts,
      nodes: hosts.map(({ node }) => node),
      journal,
      pins: (greeter) =>
        Object.entries({ ...BASE_VERSIONS, [GREETER]: `${GREETER}-${greeter}` }).map(
          ([name, componentRef]) => ({
            name,
            componentRef,
            digest: digests.get(componentRef) ?? '',
          }),
        ),
      kubectl: (...args) => kubectl(cluster, args),
      async apply(...objects) {
        const file = join(tempFolder('apply'), 'objects.json');
        await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
        return await kubectl(cluster, ['apply', '--server-side', '-f', file]);
      },
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function kubectl({ installed }: NodeCluster, args: readonly string[]): Promise<string> {
  const env = { ...process.env, KUBECONFIG: installed.server.kubeconfig };
  return (await promisify(execFile)(installed.server.kubectl, args, { env })).stdout;
}

/** Returns the digests by name. */
async function publishAll(cluster: NodeCluster): Promise<ReadonlyMap<string, string>> {
  const program = join(tempFolder('greeter'), GREETER);
  await writeFile(program, '#!/bin/sh\nwhile :; do sleep 3600 & wait "$!"; done\n');
  const greeter = await cluster.serve(program);
  const specs = [
    containerdComponent(CONTAINERD_VERSION),
    kubeletComponent(KUBELET_VERSION, await cluster.serve(await kubeletBinary()), {}, [NODE_IP]),
    ...GREETER_VERSIONS.map((version) => greeterComponent(version, greeter)),
  ];
  const stored = await Promise.all(specs.map((spec) => cluster.publish(spec)));
  return new Map(stored.map((spec) => [`${spec.component}-${spec.version}`, digestOf(spec)]));
}

function greeterComponent(
  version: string,
  artifact: { readonly url: string; readonly sha256: string },
): object {
  return {
    component: GREETER,
    version,
    artifacts: [{ os: 'linux', arch: 'any', format: 'Raw', install: [], ...artifact }],
    files: [{ path: '/etc/greeter.conf', content: `version ${version}\n` }],
    units: [{ name: GREETER, exec: { argv: ['${dir}/greeter', version] } }],
    probes: [{ name: 'unit', unit: { name: GREETER }, periodSeconds: 1 }],
    activation: { class: 'Restart' },
    commitAfterSeconds: 1,
  };
}

const UNITS = ['kubenode-agent', 'containerd', 'kubelet', GREETER] as const;

/** The processes of the units by name, with their starts: another process may get the same number. */
export async function processesOn(node: TestNode): Promise<Readonly<Record<string, string>>> {
  const properties = '--property=MainPID,ExecMainStartTimestampMonotonic,NRestarts';
  const found = await Promise.all(
    UNITS.map(
      async (unit) => [unit, (await node.run('systemctl', 'show', properties, unit)).stdout] as const,
    ),
  );
  return Object.fromEntries(found);
}

/** The command line of the greeter that runs. */
export async function greeterOn(node: TestNode): Promise<string> {
  const { stdout } = await node.run(
    'sh',
    '-c',
    'tr "\\0" " " < "/proc/$(systemctl show --property=MainPID --value greeter)/cmdline"',
  );
  return stdout.trim();
}

/** Changes with each heartbeat of the agent. */
export async function heartbeatOf({ client }: Pick<BareFleet, 'client'>, machine: string): Promise<string> {
  const lease = await client.get(LEASES, { namespace: NAMESPACE_AGENTS, name: machine });
  return textAt(lease, 'spec', 'renewTime') ?? '';
}

/** Lists all files but logs, what systemd writes while it runs, and the data of containerd and kubelet, which no version installs. */
export async function treeOf(node: TestNode): Promise<string> {
  const { stdout } = await node.run(
    'sh',
    '-c',
    `find / -xdev \\( -path /var/log -o -path /run -o -path /tmp -o -path /var/tmp -o -path /var/lib/systemd \
        -o -path /var/lib/containerd -o -path /opt/containerd -o -path /usr/libexec/kubernetes \\) -prune -o -printf '%p %y %m %u:%g %l\\n' | sort
     find /etc /opt /root /usr/local -xdev -type f -print0 | sort -z | xargs -0 sha256sum`,
  );
  return stdout;
}
