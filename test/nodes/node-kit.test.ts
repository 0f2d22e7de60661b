import { deepEqual } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';
import { type ApiServer, startApiServer } from '../support/control-plane.ts';
import { eventually } from '../support/eventually.ts';
import { processesOf } from '../support/leak-guard/leaks.ts';
import { isOwn } from '../support/node-kit/marks.ts';
import { putFile } from '../support/node-kit/rootfs.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../support/node-kit.ts';

const NODES: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

interface NodeObject extends KubeObject {
  readonly status: {
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastHeartbeatTime: string;
    }[];
    readonly nodeInfo: {
      readonly bootID: string;
      readonly kubeletVersion: string;
      readonly systemUUID: string;
    };
  };
}

describe.skipIf(reason)(`real nodes${reason ? ` (${reason})` : ''}`, () => {
  let kit: NodeKit;
  let server: ApiServer;
  const before = footprint();

  beforeAll(async () => {
    kit = await nodeKit();
    server = await startApiServer({ bindAddress: '0.0.0.0', names: [kit.hostAddress] });
  });
  afterAll(async () => {
    await kit?.close();
    await server?.stop();
    deepEqual(since(before), NOTHING);
  });

  it('boots with a Ready kubelet, reboots, is Ready again, and is removed completely', async () => {
    const empty = footprint();
    const node = await kit.boot({ name: 'node-1', cluster: server });
    const first = await ready(node, '');
    expect(first.status.nodeInfo.bootID).toBe(await node.bootId());

    await node.reboot();
    const second = await ready(node, first.status.nodeInfo.bootID);
    expect(second.status.nodeInfo.bootID).toBe(await node.bootId());
    expect(second.status.nodeInfo.bootID).not.toBe(first.status.nodeInfo.bootID);

    await kit.remove(node);
    expect(since(empty)).toEqual(NOTHING);
    expect(existsSync(node.root)).toBe(false);
  });

  it('isolates two nodes, and keeps one running when the power of the other is cut', async () => {
    const [left, right] = await Promise.all([kit.boot({ name: 'left' }), kit.boot({ name: 'right' })]);
    expect((await left.run('hostname')).stdout.trim()).toBe('left');
    const greeting = `read -t 5 line < /dev/tcp/${right.address}/22 && echo "$line"`;
    expect((await left.run('bash', '-c', greeting)).stdout).toMatch(/^SSH-2.0/);
    const [leftId, rightId] = [await left.bootId(), await right.bootId()];
    expect(leftId).not.toBe(rightId);

    await left.cutPower();
    await expect(left.run('true')).rejects.toThrow('left is not running');
    expect(await right.bootId()).toBe(rightId);

    await left.powerOn();
    expect(await left.bootId()).not.toBe(leftId);
    await Promise.all([kit.remove(left), kit.remove(right)]);
  });

  it('has the files and programs that were added before the boot, and starts again after a reboot from inside', async () => {
    const node = await kit.boot({
      name: 'own',
      binds: [[process.execPath, '/usr/local/bin/node']],
      prepare: (root) => putFile(root, 'etc/motd', 'prepared\n'),
    });
    expect((await node.run('/usr/local/bin/node', '-p', '1 + 1')).stdout.trim()).toBe('2');
    expect((await node.run('cat', '/etc/motd')).stdout).toBe('prepared\n');
    const bootId = await node.bootId();
    await node.run(
      'systemd-run',
      '--on-active=1',
      '--timer-property=AccuracySec=10ms',
      'systemctl',
      'reboot',
    );
    await node.bootedAgain(bootId);
    await kit.remove(node);
  });

  /** Resolves when the node is Ready with another boot id. */
  function ready(node: TestNode, notBoot: string): Promise<NodeObject> {
    const readReady = async (): Promise<NodeObject | undefined> => {
      const found = await server.client.get<NodeObject>(NODES, { name: node.name }).catch(() => undefined);
      const isReady = found?.status.conditions.some(
        ({ type, status }) => type === 'Ready' && status === 'True',
      );
      return isReady && found?.status.nodeInfo.bootID !== notBoot ? found : undefined;
    };
    return eventually(readReady, `${node.name} is not Ready`, 300_000);
  }
});

const NOTHING = { interfaces: [], mounts: [], cgroups: [], processes: [] };

/** What was added since then. Leftovers of a killed run may have been removed. */
function since(before: Record<string, readonly string[]>): Record<string, readonly string[]> {
  const now = Object.entries(footprint());
  return Object.fromEntries(
    now.map(([kind, all]) => [kind, all.filter((each) => !before[kind]?.includes(each))]),
  );
}

/** What nodes of this file left in the kernel: bridges, mounts, cgroups, processes. Others run meanwhile. */
function footprint(): Record<string, readonly string[]> {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return {
    interfaces: readdirSync('/sys/class/net').filter(isOwn),
    mounts: mounts.filter((line) => line.includes(tmpdir())),
    cgroups: readdirSync('/sys/fs/cgroup', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.split('/').some(isOwn),
    ),
    processes: processesOf('NO=such-mark', { parent: process.pid })
      .map(({ command }) => command)
      .filter((command) => command.includes('nspawn')),
  };
}
