import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MACHINE_COMPONENTS } from '../../../src/api/generated/resources.ts';
import type { MachineComponent } from '../../../src/api/generated/types.ts';
import { installation } from '../../../src/api/install/install.ts';
import { AGENT_GROUP, agentUser, NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import { createComponentCheck } from '../../../src/cli/checks/component-checks.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { endSandbox } from '../../support/agent/sandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { type AgentCluster, createAgentCluster, KilledAgent, RUNS, startsIn } from './agent-cluster.ts';
import { eventsAbout } from './machine-events.ts';

const CONFIG = 'etc/proxy/proxy.conf';
const LEASES = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

let installed: InstalledServer;
let cluster: AgentCluster;
beforeAll(async () => {
  // Grants are written here without the Defender, which this policy forbids.
  const objects = installation().filter(({ metadata }) => !metadata.name.includes('components-writer'));
  installed = await startInstalledServer(objects);
  cluster = createAgentCluster(installed);
});
afterEach(() => cluster.end());
afterAll(() => installed?.stop());

describe('the agent on a sandbox, with a real API server', () => {
  it('installs, upgrades, writes a file back, and rolls a bad version back, with the rights of an agent', async () => {
    const directory = tempFolder('agent');
    const [v1, v2, bad] = [
      await cluster.publish('1.0', RUNS),
      await cluster.publish('1.1', RUNS),
      await cluster.publish('1.2', 'exit 3'),
    ];
    await cluster.declare('n1', v1);
    mkdirSync(join(directory, 'var/lib/kubelet'), { recursive: true });
    const { url, log } = await cluster.startAgent('n1', directory);
    await cluster.reported('n1', { state: 'Committed', currentRef: 'proxy-1.0', ready: true });
    const disk = await eventually(
      async () => (await cluster.machine('n1')).status?.facts?.disk,
      'no file system was reported',
    );
    expect(disk.map(({ filesystem }) => filesystem)).toEqual(['nodefs']);

    await cluster.declare('n1', v2);
    await cluster.reported('n1', {
      state: 'Committed',
      currentRef: 'proxy-1.1',
      previousRef: 'proxy-1.0',
      ready: true,
    });
    expect(startsIn(directory)).toEqual(['started 1.0', 'started 1.1']);

    writeFileSync(join(directory, CONFIG), 'theirs');
    await cluster.reported('n1', { corrections: 1 });
    expect(readFileSync(join(directory, CONFIG), 'utf8')).toBe('version 1.1\n');

    await cluster.declare('n1', bad);
    const report = await cluster.reported('n1', {
      state: 'RolledBack',
      currentRef: 'proxy-1.1',
      running: true,
    });
    expect(report.deniedDigests).toHaveLength(1);
    expect(readFileSync(join(directory, CONFIG), 'utf8')).toBe('version 1.1\n');
    expect(startsIn(directory).at(-1)).toBe('started 1.1');

    const expected = ['AgentInstalled', 'AgentDriftCorrected', 'AgentRolledBack'];
    const events = await eventually(async () => {
      const written = await eventsAbout(installed.server.client, 'n1');
      const byReason = new Map(written.map((each) => [each.reason, each]));
      return expected.every((reason) => byReason.has(reason)) ? byReason : undefined;
    }, 'the Events were not written');
    expect(events.get('AgentRolledBack')).toMatchObject({ type: 'Warning', regarding: { kind: 'Machine' } });
    expect(events.get('AgentDriftCorrected')?.note).toContain(`/${CONFIG} of proxy (Content)`);

    const lease = await installed.server.client.get(LEASES, { name: 'n1', namespace: NAMESPACE_AGENTS });
    expect(lease).toMatchObject({ spec: { holderIdentity: 'n1' } });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('kubenode_agent_transitions_total{component="proxy",result="RolledBack"} 1');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(log.filter((line) => line.includes('not written'))).toEqual([]);
  });

  it('AGT-12 starts each version once when it is killed again and again during the upgrade', async () => {
    const directory = tempFolder('agent');
    const [v1, v2] = [await cluster.publish('2.0', RUNS), await cluster.publish('2.1', RUNS)];
    await cluster.declare('n2', v1);
    const kubeconfig = await installed.server.kubeconfigFor({ user: agentUser('n2'), groups: [AGENT_GROUP] });
    cluster.onEnd(() => endSandbox(directory));
    const agent = new KilledAgent(['--machine', 'n2', '--directory', directory, '--kubeconfig', kubeconfig]);
    onTestFinished(() => agent.kill());
    agent.start();
    await cluster.reported('n2', { state: 'Committed', currentRef: 'proxy-2.0', ready: true });
    await cluster.declare('n2', v2);
    // The program takes about a second to start; the upgrade another two.
    for (const ms of [300, 900, 1100, 1300, 1500, 1700, 2000, 2400]) {
      await pause(ms);
      await agent.kill();
      agent.start();
    }
    await cluster.reported('n2', { state: 'Committed', currentRef: 'proxy-2.1', ready: true });
    await agent.kill();
    expect(startsIn(directory)).toEqual(['started 2.0', 'started 2.1']);
  });

  it('stores a component with the digest that kubenode validate prints for it', async () => {
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineComponent',
      metadata: { name: 'bare-1.0' },
      spec: {
        component: 'bare',
        version: '1.0',
        parameters: [{ name: 'level' }],
        ports: [{ name: 'web', port: 80 }],
        artifacts: [
          {
            os: 'any',
            arch: 'any',
            url: 'https://example.com/bare',
            sha256: 'ab'.repeat(32),
            install: [{ from: 'bare', to: '/usr/local/bin/bare' }],
          },
        ],
        files: [{ path: '/etc/bare', content: '${port.web}', units: ['bare'] }],
        units: [{ name: 'bare', exec: { argv: ['${dir}/bare'] }, reload: {} }],
        probes: [{ name: 'web', http: { port: 'web', path: '/' } }],
        dependsOn: [{ component: 'proxy' }],
        compat: { kubernetes: { min: '1.30' } },
      },
    };
    const { client } = installed.server;
    await client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test', force: true });
    const stored = await client.get<MachineComponent>(MACHINE_COMPONENTS, object.metadata);
    expect(createComponentCheck()(object)).toEqual({ problems: [], digest: digestOf(stored.spec) });
  });
});
