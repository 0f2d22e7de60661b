import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { type AgentNode, startAgentNode } from '../../support/agent/agent-node.ts';
import {
  containerdComponent,
  KUBELET_CONFIG,
  kubeletComponent,
  sshComponent,
} from '../../support/agent/node-components.ts';
import { eventually } from '../../support/eventually.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import {
  noOlderKubeletReason,
  OLDER_KUBELET_VERSION,
  olderKubelet,
} from '../../support/node-kit/older-kubelet.ts';
import { whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';

const reason = whyNoNodes() ?? (await noOlderKubeletReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'n1';
const OLD = OLDER_KUBELET_VERSION.slice(1);
const NEW = CONTROL_PLANE_VERSION.slice(1);
const WITHIN_MS = 600_000;
const STOP = 'somebody had systemd stop it';

interface NodeObject extends KubeObject {
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo: { readonly kubeletVersion: string; readonly bootID: string };
  };
}

// Each test begins where the one before it ended: one node that lives through all of it.
describe.skipIf(reason)(`the agent on a real node${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let agent: AgentNode;
  let ssh: MachineComponentSpec;
  let containerd: MachineComponentSpec;
  let older: MachineComponentSpec;
  let newer: MachineComponentSpec;
  let etcBefore: string;

  beforeAll(async () => {
    agent = await startAgentNode(NAME);
    etcBefore = await etc();
    ssh = await agent.publish(sshComponent());
    containerd = await agent.publish(containerdComponent('1.0.0'));
    older = await agent.publish(kubeletComponent(OLD, await agent.serve(await olderKubelet())));
    newer = await agent.publish(
      kubeletComponent(NEW, await agent.serve(await kubeletBinary()), { commitAfterSeconds: 15 }),
    );
  });
  afterAll(() => agent?.[Symbol.asyncDispose]());

  async function show(unit: string, ...properties: readonly string[]): Promise<string> {
    const args = properties.map((each) => `--property=${each}`);
    const { stdout } = await agent.node.run('systemctl', 'show', '--value', ...args, `${unit}.service`);
    return stdout.trim();
  }

  /** Within the time that the requirement gives, as systemd has it. */
  async function until(what: string, isSo: () => Promise<boolean>, withinMs = WITHIN_MS): Promise<void> {
    await eventually(async () => (await isSo()) || undefined, what, withinMs).catch(
      async (error: unknown) => {
        throw new Error(`${String(error)}\n${(await agent.log()).slice(-20_000)}`, { cause: error });
      },
    );
  }

  async function nodeReady(version: string): Promise<NodeObject> {
    const found = async (): Promise<NodeObject | undefined> => {
      const { client } = agent.installed.server;
      const object = await client.get<NodeObject>(NODES, { name: NAME }).catch(() => undefined);
      const isReady = object?.status.conditions.some(
        ({ type, status }) => type === 'Ready' && status === 'True',
      );
      return isReady && object?.status.nodeInfo.kubeletVersion === `v${version}` ? object : undefined;
    };
    return await eventually(found, `the Node is not Ready with kubelet ${version}`, WITHIN_MS);
  }

  async function isActive(): Promise<boolean> {
    return (await show('kubelet', 'ActiveState')) === 'active';
  }

  /** The process, and its start: another process may get the same number. */
  async function processOf(unit: string): Promise<string> {
    return await show(unit, 'MainPID', 'ExecMainStartTimestampMonotonic');
  }

  /** Every file of the configuration of the node: mode, owner, target, content. */
  async function etc(): Promise<string> {
    const script =
      "find /etc -printf '%p %M %u:%g %l\\n' | sort; find /etc -type f | sort | xargs -d '\\n' sha256sum";
    return (await agent.node.run('sh', '-c', script)).stdout;
  }

  const drift = async (): Promise<string> => {
    const { status } = await agent.installed.server.client.get<Machine>(MACHINES, { name: NAME });
    return conditionOf(status?.conditions, 'DriftDetected')?.message ?? '';
  };

  it('AGT-14 takes over a unit of the host without restarting it, and containerd with its config', async () => {
    const before = await processOf('ssh');
    await agent.declare([ssh, containerd]);
    await agent.reported('sshd', { state: 'Committed', ready: true });
    await agent.reported('containerd', { state: 'Committed', ready: true });
    expect(await processOf('ssh')).toBe(before);
    expect(await show('containerd', 'LimitNOFILE')).toBe('1048576');
    const { stdout } = await agent.node.run('containerd', 'config', 'dump');
    expect(stdout).toContain('restrict_oom_score_adj = true');
  });

  it('AGT-16 brings a kubelet to a Ready Node with the identity that it got, and nothing else', async () => {
    await agent.declare([ssh, containerd, older]);
    await agent.reported('kubelet', { state: 'Committed', currentRef: `kubelet-${OLD}`, ready: true });
    const { status } = await nodeReady(OLD);
    expect(status.nodeInfo.bootID).toBe(await agent.node.bootId());
  });

  it('AGT-30 writes an edited config back, and leaves the process that did not start on it', async () => {
    const before = await processOf('kubelet');
    const original = (await agent.node.run('cat', KUBELET_CONFIG)).stdout;
    // In one change, so that the agent corrects it once.
    const theirs = `echo '{"kind": "theirs"}' > ${KUBELET_CONFIG}.theirs; chmod 0644 ${KUBELET_CONFIG}.theirs; mv ${KUBELET_CONFIG}.theirs ${KUBELET_CONFIG}`;
    await agent.node.run('sh', '-c', theirs);
    await until('the config was not written back', async () => {
      const { stdout } = await agent.node.run(
        'sh',
        '-c',
        `stat -c %a ${KUBELET_CONFIG}; cat ${KUBELET_CONFIG}`,
      );
      return stdout === `600\n${original}`;
    });
    expect(await processOf('kubelet')).toBe(before);
    await agent.reported('kubelet', { corrections: 1 });
  });

  it('AGT-31 starts a stopped kubelet, and enables one that was disabled', async () => {
    const before = await processOf('kubelet');
    await agent.node.run('systemctl', 'stop', 'kubelet');
    await until('the kubelet was not started', isActive, 30_000);
    const started = await processOf('kubelet');
    expect(started).not.toBe(before);
    await agent.node.run('systemctl', 'disable', 'kubelet');
    const isEnabled = async (): Promise<boolean> =>
      (await agent.node.run('sh', '-c', 'systemctl is-enabled kubelet || true')).stdout.trim() === 'enabled';
    await until('the kubelet was not enabled', isEnabled, 30_000);
    expect(await processOf('kubelet')).toBe(started);
  });

  it('AGT-31 starts a kubelet again however often it is stopped, also one whose program may not be executed', async () => {
    const program = `$(readlink /opt/kubenode/kubelet/current)/kubelet`;
    const mode = async (): Promise<string> =>
      (await agent.node.run('sh', '-c', `stat --format %a ${program}`)).stdout.trim();
    // With those of the test before it, more than the tries without a wait.
    for (let time = 0; time < 5; time += 1) {
      if (time === 3) await agent.node.run('sh', '-c', `chmod 644 ${program}`);
      await agent.node.run('systemctl', 'stop', 'kubelet');
      await until(`the kubelet was not started after stop ${time + 1}`, isActive);
    }
    await expect.poll(mode).toBe('755');
    // The wait before the next start grows until the report comes within it.
    await until('who stopped it was not reported', async () => {
      if (await isActive()) await agent.node.run('systemctl', 'stop', 'kubelet');
      return (await drift()).includes(STOP);
    });
    await until('the kubelet was not started', isActive);
    await nodeReady(OLD);
  });

  it('AGT-31 reports a containerd that a signal has stopped, whose socket still accepts connections', async () => {
    const before = await processOf('containerd');
    const pid = await show('containerd', 'MainPID');
    await agent.node.run('kill', '-STOP', pid);
    await agent.reported('containerd', { running: false });
    await agent.node.run('kill', '-CONT', pid);
    await agent.reported('containerd', { running: true, ready: true });
    expect(await processOf('containerd')).toBe(before);
    await nodeReady(OLD);
  });

  it('AGT-31 removes the masks of a unit of the host and of one of its own', async () => {
    const before = [await processOf('containerd'), await processOf('kubelet')];
    await agent.node.run('systemctl', 'mask', 'containerd');
    await agent.node.run('ln', '-sf', '/dev/null', '/etc/systemd/system/kubelet.service');
    await agent.node.run('systemctl', 'daemon-reload');
    for (const unit of ['containerd', 'kubelet']) {
      await until(
        `${unit} is still masked`,
        async () => (await show(unit, 'LoadState')) === 'loaded',
        30_000,
      );
    }
    expect([await processOf('containerd'), await processOf('kubelet')]).toEqual(before);
    await nodeReady(OLD);
  });

  it('AGT-32 brings a replaced binary back under the running process', async () => {
    const before = await processOf('kubelet');
    const directory = (await agent.node.run('readlink', '/opt/kubenode/kubelet/current')).stdout.trim();
    const digest = async (): Promise<string> =>
      (await agent.node.run('sha256sum', `${directory}/kubelet`)).stdout.split(' ')[0] ?? '';
    const original = await digest();
    await agent.node.run(
      'sh',
      '-c',
      `cp /bin/true ${directory}/theirs && mv ${directory}/theirs ${directory}/kubelet`,
    );
    await until('the binary was not brought back', async () => (await digest()) === original);
    expect(await processOf('kubelet')).toBe(before);
  });

  it('AGT-22 finishes an upgrade of the kubelet to another version that a reboot interrupted', async () => {
    const bootId = await agent.node.bootId();
    await agent.declare([ssh, containerd, newer]);
    await agent.reported('kubelet', { state: 'Probation' });
    await agent.node.reboot();
    await agent.reported('kubelet', { state: 'Committed', currentRef: `kubelet-${NEW}`, ready: true });
    const booted = await agent.node.bootId();
    expect(booted).not.toBe(bootId);
    // The agent sees the kubelet earlier than the API server has its Node.
    const reported = async (): Promise<string> => (await nodeReady(NEW)).status.nodeInfo.bootID;
    await expect.poll(reported).toBe(booted);
    await agent.reported('containerd', { state: 'Committed', ready: true });
  });

  it('AGT-21 rolls a broken kubelet back, and the Node stays Ready', async () => {
    const file = join(tempFolder('broken'), 'kubelet');
    await writeFile(file, '#!/bin/sh\necho "cannot start"\nexit 3\n');
    const broken = await agent.publish(kubeletComponent('9.9.9', await agent.serve(file)));
    await agent.declare([ssh, containerd, broken]);
    const report = await agent.reported('kubelet', { state: 'RolledBack', currentRef: `kubelet-${NEW}` });
    expect(report.deniedDigests).toHaveLength(1);
    await agent.reported('kubelet', { ready: true });
    await nodeReady(NEW);
  });

  it('AGT-15 removes the kubelet and the config of containerd, and leaves the host as it was before', async () => {
    const before = [await processOf('ssh'), await show('kubenode-agent', 'MainPID')];
    await agent.declare([containerd], [ssh, newer]);
    for (const component of ['sshd', 'kubelet']) await agent.reported(component, { state: 'Absent' });
    expect(await show('kubelet', 'LoadState')).toBe('not-found');
    await agent.declare([], [ssh, newer, containerd]);
    await agent.reported('containerd', { state: 'Absent' });
    expect(await show('containerd', 'ActiveState')).toBe('active');
    expect(await show('containerd', 'LimitNOFILE')).not.toBe('1048576');
    expect(await etc()).toBe(etcBefore);
    expect([await processOf('ssh'), await show('kubenode-agent', 'MainPID')]).toEqual(before);
  });
});
