import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemDetector } from '../../../fleet/components/problem-detector.ts';
import { kernelHang } from '../../../rules/kernel-hang.ts';
import {
  MACHINE_COMPONENT_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { NodeRemedierSpec, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import {
  ANNOTATION_COMMIT,
  MANAGER_SYNC,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { all, condition } from '../../../src/constructs/index.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { ensureAccount, WEB } from '../../cluster/controllers/budgeted-pod.ts';
import { ACCOUNTS, applyFleetDefault, readLedger } from '../../cluster/defender/objects.ts';
import { type NodeCluster, startNodeCluster } from '../../support/agent/node-cluster.ts';
import { containerdComponent, kubeletComponent } from '../../support/agent/node-components.ts';
import { eventually } from '../../support/eventually.ts';
import { importImage } from '../../support/node-kit/image.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import { type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { testIo } from '../../support/test-io.ts';
import { runWebPod } from '../rollout/workload.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'n1';
const SET = 'nodes';
const KUBELET = CONTROL_PLANE_VERSION.slice(1);
const COMMIT = '4f2c9e1a77b0';
const WITHIN_MS = 300_000;
const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'one', per: 'Cluster', risks: ['Node', 'Machine'], max: 1 }],
  counting: { lingerSeconds: 0, smallPool: { below: 1, max: 1 } },
  blockers: { minNodeAgeSeconds: 0 },
  zones: { haltPercent: 100, minNodes: 1000 },
};

// One node that lives through all of it.
describe.skipIf(reason)(`repairs of a real node${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let cluster: NodeCluster;
  let client: Client;
  let node: TestNode;

  beforeAll(async () => {
    cluster = await startNodeCluster(['disruption']);
    ({ client } = cluster.installed.server);
    await applyFleetDefault(cluster.installed, POLICY);
    await cluster.declareMachine(NAME, [], { pool: SET });
    await cluster.publish(containerdComponent('1.0.0'));
    await cluster.publish(kubeletComponent(KUBELET, await cluster.serve(await kubeletBinary())));
    await cluster.publish({ ...problemDetector, commitAfterSeconds: 2 });
    await declareComponents();
    node = await cluster.boot(NAME);
    await until('the Node is not Ready', async () => (await nodeCondition('Ready')) === 'True');
    await until('no detector', async () => (await nodeCondition('FrequentTaskHung')) === 'False');
    await importImage(node);
    await ensureAccount(client);
    await runWebPod(client, NAME);
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  async function declareComponents(): Promise<void> {
    const names = ['containerd-1.0.0', `kubelet-${KUBELET}`, `problem-detector-${problemDetector.version}`];
    const components = names.map((componentRef) => ({
      name: componentRef.slice(0, componentRef.lastIndexOf('-')),
      componentRef,
    }));
    const spec = { machineSelector: { matchLabels: { pool: SET } }, components };
    await client.apply(MACHINE_COMPONENT_SETS, object('MachineComponentSet', SET, { spec }), BY_TEST);
  }

  /** As sync does. */
  async function applyRule(name: string, spec: NodeRemedierSpec): Promise<void> {
    const sync = await cluster.installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    const rule = object('NodeRemedier', name, { spec });
    const metadata = { name, annotations: { [ANNOTATION_COMMIT]: COMMIT } };
    await sync.apply(NODE_REMEDIERS, { ...rule, metadata }, { fieldManager: MANAGER_SYNC, force: true });
  }

  async function nodeCondition(type: string): Promise<string | undefined> {
    const found = await client.get(NODES, { name: NAME }).catch((error: unknown) => {
      if (isKubeError(error, 'NotFound')) return undefined;
      throw error;
    });
    return textAt(
      listAt(found, 'status', 'conditions').find((each) => textAt(each, 'type') === type),
      'status',
    );
  }

  async function webPods(): Promise<readonly string[]> {
    const { items } = await client.list(PODS, { namespace: WEB.namespace });
    return items.map(({ metadata }) => metadata.name);
  }

  async function jobs(): Promise<readonly RemedyOperationJob[]> {
    return (await client.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS)).items;
  }

  async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await eventually(async () => (await isSo()) || undefined, what, WITHIN_MS).catch(
      async (error: unknown) => {
        const { items } = await client.list(NODE_REMEDIERS);
        const machine = await client.get(MACHINES, { name: NAME });
        const { stdout } = await node.run('journalctl', '--no-pager', '--lines=200', '--unit=kubenode-agent');
        const found = JSON.stringify([items, await jobs(), machine], undefined, 1);
        throw new Error(`${String(error)}\n${found}\n${stdout}`, { cause: error });
      },
    );
  }

  async function kubeletProcess(): Promise<string> {
    return (await node.run('systemctl', 'show', '--value', '--property=MainPID', 'kubelet')).stdout.trim();
  }

  async function openGrants(): Promise<readonly string[]> {
    const { grants } = (await readLedger(client)).spec;
    return Object.values(grants).flatMap(({ id, state }) => (state === 'Settled' ? [] : id));
  }

  async function ended(): Promise<readonly string[]> {
    return (await jobs()).flatMap(({ spec, status }) =>
      status?.outcome ? [`${spec.cause.remedier} ${spec.rung.name} ${status.outcome.class}`] : [],
    );
  }

  it('R40 drains and reboots a node whose kernel hangs, and puts it back into service', async () => {
    await applyRule('kernel-hang', quickKernelHang());
    const before = await node.bootId();
    for (const each of [1, 2, 3]) {
      await node.run('logger', '--tag=kernel', `task web:${each} blocked for more than 120 seconds.`);
    }
    await until('the job has not ended', async () => (await ended()).length > 0);
    expect(await ended()).toEqual(['kernel-hang reboot Succeeded']);
    expect(await node.bootId()).not.toBe(before);
    expect(await nodeCondition('FrequentTaskHung')).toBe('False');
    expect(isCordoned(await client.get(NODES, { name: NAME }))).toBe(false);
    expect(await webPods()).toEqual([]);
    await expect.poll(openGrants, { timeout: WITHIN_MS }).toEqual([]);
    const [job] = await jobs();
    const io = testIo({ env: { KUBECONFIG: cluster.installed.server.kubeconfig } });
    expect(await runCommandLine(io, ['why', 'job', job?.metadata.name ?? ''])).toBe(0);
    expect(io.stdout).toContain(COMMIT);
    for (const step of ['Cordon', 'Drain', 'Reboot', 'WaitForBoot']) expect(io.stdout).toContain(step);
  });

  it('brings back a kubelet that was killed and masked', async () => {
    const before = await kubeletProcess();
    const unit = '/etc/systemd/system/kubelet.service';
    const kill = 'systemctl kill --signal=SIGKILL kubelet && systemctl stop kubelet';
    await node.run('sh', '-c', `ln -sf /dev/null ${unit} && systemctl daemon-reload && ${kill}`);
    await until('the kubelet does not run again', async () => {
      const now = await kubeletProcess();
      return now !== '0' && now !== before;
    });
    await expect.poll(() => nodeCondition('Ready'), { timeout: WITHIN_MS }).toBe('True');
  });
});

const BY_TEST = { fieldManager: 'test', force: true } as const;

function object(
  kind: string,
  name: string,
  fields: object,
): { apiVersion: string; kind: string; metadata: { name: string } } {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name }, ...fields };
}

/** The rule that ships, with times for a test, on a cluster of one node. */
function quickKernelHang(): NodeRemedierSpec {
  const [reboot, ...others] = kernelHang.ladder;
  if (!reboot) throw new Error('the rule has no rung');
  const hung = condition('FrequentTaskHung');
  const { gate: _gate, ...rule } = kernelHang.rule;
  return {
    ...kernelHang,
    target: { ...kernelHang.target, maxMatchPercent: 100 },
    rule: { ...rule, conditions: hung.is('True', { for: '3s' }) },
    ladder: [
      {
        ...reboot,
        verify: {
          conditions: all(condition('Ready').is('True'), hung.is('False')),
          holdSeconds: 10,
          timeoutSeconds: 180,
        },
      },
      ...others,
    ],
    tests: [
      { name: 'hung', expect: 'Match', given: hungFor('True') },
      { name: 'not hung', expect: 'NoMatch', given: hungFor('False') },
      { name: 'detector silent', expect: 'Indeterminate', given: {} },
    ],
  } as NodeRemedierSpec;
}

function hungFor(status: 'True' | 'False'): Readonly<Record<string, unknown>> {
  return { condition: { FrequentTaskHung: { status, observedSeconds: 60 } } };
}
