/** A real Node with pods, imported with `existingNode: Converge`: what differs is changed with a grant, and given back at the release. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IDENTITY_KUBECONFIG } from '../../../src/agent/layout.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { sshComponent } from '../../support/agent/node-components.ts';
import { CONTAINERD } from '../../support/node-kit/kubelet.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { containerdVersion, kubeletVersion, type RunningNode, startRunningNode } from './running-node.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'c1';
const PODS_ON_NODE = 5;
const PROGRAM = '/usr/local/lib/kubenode/kubenode-agent';
const DIFFERENT = `# the line of the version\n${CONTAINERD}`;

// Each test begins where the one before it ended.
describe.skipIf(reason)(`a Node that converges${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let running: RunningNode;

  beforeAll(async () => {
    running = await startRunningNode(NAME, PODS_ON_NODE);
    const { cluster, host } = running;
    const components = [
      sshComponent(),
      containerdVersion('1.0.0', DIFFERENT),
      await kubeletVersion(running, 'Kubelet'),
    ];
    const specs = await Promise.all(components.map((each) => cluster.publish(each)));
    const converging = { ...host, import: { ...host.import, existingNode: 'Converge' } };
    const entries = specs.map((spec) => entryOf(spec, false));
    await cluster.declareMachine(NAME, entries, {}, converging);
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
  });

  it('MAC-19 changes nothing of what differs before a grant, and commits what is the same', async () => {
    const { before } = running;
    await running.until('containerd', ({ state }) => state === 'WaitingForGrant');
    await running.until('kubelet', ({ state }) => state === 'WaitingForGrant');
    await running.until('sshd', ({ state }) => state === 'Committed');
    const now = await running.state();
    expect([now.units, now.pods, now.node]).toEqual([before.units, before.pods, before.node]);
    const config = await running.host.node.run('cat', '/etc/containerd/config.toml');
    expect(config.stdout).toBe(CONTAINERD);
  });

  it('MAC-19 changes what differs with the grant, the identity of the kubelet too, while every pod runs on', async () => {
    const { before, host } = running;
    await running.grant();
    await running.until('containerd', ({ state }) => state === 'Committed');
    await running.until('kubelet', ({ state }) => state === 'Committed');
    expect(await kubeletCommand()).toContain(`--kubeconfig=${IDENTITY_KUBECONFIG}`);
    const config = await host.node.run('cat', '/etc/containerd/config.toml');
    expect(config.stdout).toBe(DIFFERENT);
    const now = await running.state();
    expect(now.pods).toEqual(before.pods);
    expect(now.node).toEqual(before.node);
    expect(await running.units('containerd')).not.toBe(before.units.split('\n\n')[1]);
    const { status } = await running.machine();
    expect(conditionOf(status?.conditions, 'DriftDetected')?.status).toBe('False');
    expect(conditionOf(status?.conditions, 'NodeReady')?.status).toBe('True');
  });

  it('MAC-19 MAC-20 gives the files and units of the person back with Restore', async () => {
    const { before, host } = running;
    await host.node.run(PROGRAM, 'release', '--cleanup', 'Restore', '-o', 'json');
    const now = await running.state();
    expect(now.files).toBe(before.files);
    expect(now.pods).toEqual(before.pods);
    const { stdout } = await host.node.run('systemctl', 'is-active', 'kubelet', 'containerd');
    expect(stdout).toBe('active\nactive\n');
    expect(await kubeletCommand()).toContain('--kubeconfig=/etc/kubernetes/kubeconfig');
  });

  async function kubeletCommand(): Promise<string> {
    const command = 'tr "\\0" " " < "/proc/$(systemctl show --property=MainPID --value kubelet)/cmdline"';
    return (await running.host.node.run('sh', '-c', command)).stdout;
  }
});
