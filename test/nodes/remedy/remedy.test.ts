import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernelHang } from '../../../rules/kernel-hang.ts';
import type { NodeRemedierSpec } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { all, condition } from '../../../src/constructs/index.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { WEB } from '../../cluster/controllers/budgeted-pod.ts';
import { type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { testIo } from '../../support/test-io.ts';
import { REPAIRED_COMMIT, type RepairedNode, startRepairedNode } from './repaired-node.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'n1';

// One node that lives through all of it.
describe.skipIf(reason)(`repairs of a real node${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let repaired: RepairedNode;
  let client: Client;
  let node: TestNode;

  beforeAll(async () => {
    repaired = await startRepairedNode({ name: NAME, pool: 'nodes' });
    ({ client, node } = repaired);
  });
  afterAll(() => repaired?.[Symbol.asyncDispose]());

  async function webPods(): Promise<readonly string[]> {
    const { items } = await client.list(PODS, { namespace: WEB.namespace });
    return items.map(({ metadata }) => metadata.name);
  }

  async function kubeletProcess(): Promise<string> {
    return (await node.run('systemctl', 'show', '--value', '--property=MainPID', 'kubelet')).stdout.trim();
  }

  it('R40 drains and reboots a node whose kernel hangs, and puts it back into service', async () => {
    await repaired.applyRule('kernel-hang', quickKernelHang());
    const before = await node.bootId();
    for (const each of [1, 2, 3]) {
      await node.run('logger', '--tag=kernel', `task web:${each} blocked for more than 120 seconds.`);
    }
    await repaired.until('the job has not ended', async () => (await repaired.ended()).length > 0);
    expect(await repaired.ended()).toEqual(['kernel-hang reboot Succeeded']);
    expect(await node.bootId()).not.toBe(before);
    expect(await repaired.nodeCondition('FrequentTaskHung')).toBe('False');
    expect(isCordoned(await client.get(NODES, { name: NAME }))).toBe(false);
    expect(await webPods()).toEqual([]);
    await expect.poll(() => repaired.openGrants()).toEqual([]);
    const [job] = await repaired.jobs();
    const io = testIo({ env: { KUBECONFIG: repaired.cluster.installed.server.kubeconfig } });
    expect(await runCommandLine(io, ['why', 'job', job?.metadata.name ?? ''])).toBe(0);
    expect(io.stdout).toContain(REPAIRED_COMMIT);
    for (const step of ['Cordon', 'Drain', 'Reboot', 'WaitForBoot']) expect(io.stdout).toContain(step);
  });

  it('brings back a kubelet that was killed and masked', async () => {
    const before = await kubeletProcess();
    const unit = '/etc/systemd/system/kubelet.service';
    const kill = 'systemctl kill --signal=SIGKILL kubelet && systemctl stop kubelet';
    await node.run('sh', '-c', `ln -sf /dev/null ${unit} && systemctl daemon-reload && ${kill}`);
    await repaired.until('the kubelet does not run again', async () => {
      const now = await kubeletProcess();
      return now !== '0' && now !== before;
    });
    // The status of the kubelet that was killed is Ready, too.
    const startedMs = createSystemClock().now().getTime();
    await repaired.until(
      'no status of the new kubelet',
      async () => (await repaired.heartbeatMs('Ready')) > startedMs,
    );
    await expect.poll(() => repaired.nodeCondition('Ready')).toBe('True');
  });

  it('AGT-31 registers the Node again that somebody deleted, by a restart of the kubelet under a grant', async () => {
    const [before, kubelet] = [await client.get(NODES, { name: NAME }), await kubeletProcess()];
    await client.delete(NODES, { name: NAME }, { uid: before.metadata.uid ?? '' });
    const isReady = async (): Promise<boolean> => (await repaired.nodeCondition('Ready')) === 'True';
    await repaired.until('the Node is not registered again', async () => isReady());
    const after = await client.get(NODES, { name: NAME });
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(await kubeletProcess()).not.toBe(kubelet);
    await expect.poll(() => repaired.openGrants()).toEqual([]);
  });
});

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
