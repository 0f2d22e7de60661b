/** A real Node with pods, imported with `existingNode: Adopt`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { CONTAINERD } from '../../support/node-kit/kubelet.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import {
  containerdVersion,
  type Entry,
  kubeletVersion,
  type RunningNode,
  startRunningNode,
} from './running-node.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'a1';
const PODS_ON_NODE = 30;
const PROGRAM = '/usr/local/lib/kubenode/kubenode-agent';

// Each test begins where the one before it ended.
describe.skipIf(reason)(`a Node that is adopted${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let running: RunningNode;
  let kubelet: Entry;

  beforeAll(async () => {
    running = await startRunningNode(NAME, PODS_ON_NODE);
    kubelet = entryOf(await running.cluster.publish(await kubeletVersion(running)), false);
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
  });

  async function declare(containerd: object): Promise<void> {
    const { cluster, host } = running;
    const entry = entryOf(await cluster.publish(containerd), false);
    const adopted = { ...host, import: { ...host.import, existingNode: 'Adopt' } };
    await cluster.declareMachine(NAME, [entry, kubelet], {}, adopted);
  }

  it('MAC-19 commits the kubelet that runs without a restart, and names how containerd differs', async () => {
    const { host, before } = running;
    await declare(containerdVersion('1.0.0', `# another line\n${CONTAINERD}`));
    await running.until('kubelet', ({ state }) => state === 'Committed');
    await running.until('containerd', ({ waiting }) => waiting?.reason === 'HostDiffers');
    const { status } = await running.machine();
    expect(conditionOf(status?.conditions, 'DriftDetected')).toMatchObject({
      status: 'True',
      reason: 'Reported',
      message: expect.stringContaining('/etc/containerd/config.toml has other content') as string,
    });
    expect(conditionOf(status?.conditions, 'Stalled')?.status).not.toBe('True');
    const now = await running.state();
    expect([now.units, now.pods, now.node]).toEqual([before.units, before.pods, before.node]);
    const text = (await host.node.run('cat', '/etc/systemd/system/kubelet.service')).stdout;
    expect(text).toContain('Written by the kubenode agent');
  });

  it('MAC-19 changes containerd when another version is desired, with a grant', async () => {
    const { host, before } = running;
    await declare(containerdVersion('1.0.1', `# the line of the next version\n${CONTAINERD}`));
    await running.until('containerd', ({ state }) => state === 'WaitingForGrant');
    await running.grant();
    await running.until('containerd', ({ state }) => state === 'Committed');
    expect(await running.units('containerd')).not.toBe(before.units.split('\n\n')[1]);
    expect((await host.node.run('head', '-1', '/etc/containerd/config.toml')).stdout).toBe(
      '# the line of the next version\n',
    );
    expect((await running.state()).pods).toEqual(before.pods);
  });

  it('MAC-19 MAC-20 gives the units and files of the person back with Restore', async () => {
    const { host, before } = running;
    await host.node.run(PROGRAM, 'release', '--cleanup', 'Restore', '-o', 'json');
    expect((await running.state()).files).toBe(before.files);
    const { stdout } = await host.node.run('systemctl', 'is-active', 'kubelet', 'containerd');
    expect(stdout).toBe('active\nactive\n');
  });
});
