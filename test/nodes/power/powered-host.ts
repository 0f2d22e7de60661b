/** A bare host with a BMC, imported over SSH into a cluster whose controllers repair it, and the rule that ships with short waits. */
import { deadHost } from '../../../rules/dead-host.ts';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedierSpec } from '../../../src/api/generated/types.ts';
import { NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { all, condition } from '../../../src/constructs/index.ts';
import { conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { applyFleetDefault } from '../../cluster/defender/objects.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { type BareHost, type NodeCluster, startNodeCluster } from '../../support/agent/node-cluster.ts';
import { containerdComponent, kubeletComponent } from '../../support/agent/node-components.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import { EMULATOR_PASSWORD, EMULATOR_USER } from '../../support/redfish/emulator.ts';
import { type NodeBmc, startNodeBmc } from '../../support/redfish/powered-node.ts';
import { tempFolder } from '../../support/temp.ts';
import { ONE_NODE_POLICY, type RepairedNode, repairedNode } from '../remedy/repaired-node.ts';

export interface PoweredHost extends AsyncDisposable {
  readonly repaired: RepairedNode;
  readonly bmc: NodeBmc;
}

const UUID = '27946b59-9e44-4fa7-8e91-f3527a1ef094';
const SECRET = 'bmc';
const NODE_IP = '--node-ip=${machine.address}';

/** Resolves when agent and kubelet of the host are Ready. */
export async function startPoweredHost(name: string): Promise<PoweredHost> {
  // It reports that a kubelet is silent.
  const cluster = await startNodeCluster({ kubernetes: ['node-lifecycle-controller'], imports: true });
  let bmc: NodeBmc | undefined;
  const end = async (): Promise<void> => {
    try {
      await bmc?.[Symbol.asyncDispose]();
    } finally {
      await cluster[Symbol.asyncDispose]();
    }
  };
  try {
    await applyFleetDefault(cluster.installed, ONE_NODE_POLICY);
    const host = await cluster.bootBare(name);
    bmc = await startNodeBmc(host.node, UUID, tempFolder('bmc'));
    await declareHost(cluster, host, bmc);
    const repaired = repairedNode(cluster, host.node, name);
    await repaired.until('the machine is not Ready', async () => isReady(repaired, name));
    return { repaired, bmc, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function declareHost(
  cluster: NodeCluster,
  { node, import: access }: BareHost,
  bmc: NodeBmc,
): Promise<void> {
  const { client } = cluster.installed.server;
  const { name } = node;
  await client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: SECRET,
      namespace: NAMESPACE,
      annotations: { 'kubenode.dev/secret-use': `bmc; 127.0.0.1:${bmc.port}` },
    },
    stringData: { username: EMULATOR_USER, password: EMULATOR_PASSWORD },
  });
  const kubelet = kubeletComponent(
    CONTROL_PLANE_VERSION.slice(1),
    await cluster.serve(await kubeletBinary()),
    {},
    [NODE_IP],
  );
  const versions = [containerdComponent('1.0.0'), kubelet];
  const components = await Promise.all(
    versions.map(async (version) => entryOf(await cluster.publish(version), false)),
  );
  const spec = {
    infra: { provider: 'ssh' },
    import: access,
    bmc: {
      address: bmc.address,
      certificateFingerprint: bmc.fingerprint,
      credentialsRef: { name: SECRET },
      systemUUID: UUID,
    },
    components,
  };
  const object = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, spec };
  await client.apply(MACHINES, object, { fieldManager: 'test', force: true });
}

async function isReady({ client }: RepairedNode, name: string): Promise<boolean> {
  const { status } = await client.get<Machine>(MACHINES, { name });
  return ['Ready', 'AgentReady'].every((type) => conditionStatus(status?.conditions, type) === 'True');
}

const SOON = { for: '5s' } as const;

/** The rule that ships, with times for a test, on a cluster of one node. */
export function quickDeadHost(): NodeRemedierSpec {
  const [cycle, ...others] = deadHost.ladder;
  if (!cycle?.verify) throw new Error('the rule has no rung with a proof');
  const silent = all(condition('Ready').is('Unknown', SOON), condition('AgentReady').is('Unknown', SOON));
  return {
    ...deadHost,
    target: { ...deadHost.target, maxMatchPercent: 100 },
    rule: { ...deadHost.rule, conditions: silent },
    ladder: [{ ...cycle, verify: { ...cycle.verify, holdSeconds: 10 } }, ...others],
    tests: deadHost.tests.filter(({ name }) => name !== 'nothing answers since a minute'),
  } as NodeRemedierSpec;
}
