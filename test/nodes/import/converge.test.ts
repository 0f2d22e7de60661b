/** A real Node with pods, imported with `existingNode: Converge`: what differs is changed with a grant, and given back at the release. */
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

const NAME = 'c1';
const PODS_ON_NODE = 5;
const PROGRAM = '/usr/local/lib/kubenode/kubenode-agent';
const DIFFERENT = `# the line of the version\n${CONTAINERD}`;

// Each test begins where the one before it ended.
describe.skipIf(reason)(`a Node that converges${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let running: RunningNode;
  let kubelet: Entry;
  let containerd: Entry;

  beforeAll(async () => {
    running = await startRunningNode(NAME, PODS_ON_NODE);
    const { cluster, host } = running;
    kubelet = entryOf(await cluster.publish(await kubeletVersion(running)), false);
    containerd = entryOf(await cluster.publish(containerdVersion('1.0.0', DIFFERENT)), false);
    const converging = { ...host, import: { ...host.import, existingNode: 'Converge' } };
    await cluster.declareMachine(NAME, [containerd, kubelet], {}, converging);
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
  });

  it('MAC-19 changes nothing of what differs before a grant, and commits what is the same', async () => {
    const { before } = running;
    await running.until('containerd', ({ state }) => state === 'WaitingForGrant');
    await running.until('kubelet', ({ state }) => state === 'Committed');
    const now = await running.state();
    expect([now.units, now.pods, now.node]).toEqual([before.units, before.pods, before.node]);
    const config = await running.host.node.run('cat', '/etc/containerd/config.toml');
    expect(config.stdout).toBe(CONTAINERD);
  });

  it('MAC-19 changes what differs with the grant, while every pod runs on', async () => {
    const { before, host } = running;
    await running.grant();
    await running.until('containerd', ({ state }) => state === 'Committed');
    const config = await host.node.run('cat', '/etc/containerd/config.toml');
    expect(config.stdout).toBe(DIFFERENT);
    const now = await running.state();
    expect(now.pods).toEqual(before.pods);
    expect(now.node).toEqual(before.node);
    expect(await running.units('containerd')).not.toBe(before.units.split('\n\n')[1]);
    const { status } = await running.machine();
    expect(conditionOf(status?.conditions, 'DriftDetected')?.status).toBe('False');
  });

  it('MAC-19 MAC-20 gives the files and units of the person back with Restore', async () => {
    const { before, host } = running;
    await host.node.run(PROGRAM, 'release', '--cleanup', 'Restore', '-o', 'json');
    const now = await running.state();
    expect(now.files).toBe(before.files);
    expect(now.pods).toEqual(before.pods);
    const { stdout } = await host.node.run('systemctl', 'is-active', 'kubelet', 'containerd');
    expect(stdout).toBe('active\nactive\n');
  });
});
