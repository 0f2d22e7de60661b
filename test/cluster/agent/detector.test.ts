import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runDetector } from '../../../src/agent/detector/detector.ts';
import { createNodeConditionsApi } from '../../../src/agent/detector/report/node-conditions-api.ts';
import { createNodeEvents } from '../../../src/agent/detector/report/node-events.ts';
import { createSandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { AGENT_GROUP, agentUser } from '../../../src/api/names.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { configFile, fileMonitor } from '../../support/agent/detector-config.ts';
import { eventually } from '../../support/eventually.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { createAgentCluster } from './agent-cluster.ts';
import { eventsAbout } from './machine-events.ts';

interface NodeObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Readonly<Record<string, string>>[] };
}

const clock = createSystemClock();
let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
afterAll(() => installed?.stop());

describe('the problem detector with the rights of an agent, on a real API server', () => {
  it('reports conditions and Events of its own Node beside those of the kubelet, and removes them again', async () => {
    await createNode('n1');
    const { directory } = await start('n1');
    await conditionOf('n1', 'False');
    appendLine(directory, 'bad line 7');
    const found = await conditionOf('n1', 'True');
    expect(found).toMatchObject({ reason: 'BadLine', message: 'bad line 7' });
    expect(await typesOf('n1')).toEqual(['FileProblem', 'Ready']);
    await eventually(
      async () =>
        (await eventsAbout(installed.server.client, 'n1')).find(({ reason }) => reason === 'BadLine'),
      'no Event was written',
    );
    rmSync(`${directory}/etc`, { recursive: true });
    await eventually(
      async () => ((await typesOf('n1')).includes('FileProblem') ? undefined : true),
      'the condition was not removed',
    );
    expect(await typesOf('n1')).toEqual(['Ready']);
  });

  it('AGT-72 leaves a condition to another program that reports it, and yields to one that begins to', async () => {
    await createNode('n2');
    await writeAsOther('n2', 'Theirs');
    const { directory, log } = await start('n2');
    await eventually(async () => standbyIn(log), 'the detector did not stand by');
    await writeAsOther('n2', 'Again');
    appendLine(directory, 'bad line 7');
    await eventually(
      async () =>
        (await eventsAbout(installed.server.client, 'n2')).find(({ reason }) => reason === 'BadLine'),
      'no Event was written',
    );
    expect(await conditionOf('n2', 'False')).toMatchObject({ reason: 'Again' });

    await createNode('n3');
    const third = await start('n3');
    await conditionOf('n3', 'False');
    await writeAsOther('n3', 'Theirs');
    appendLine(third.directory, 'bad line 8');
    await eventually(async () => standbyIn(third.log), 'the detector did not yield');
    expect(await conditionOf('n3', 'False')).toMatchObject({ reason: 'Theirs' });
  });

  it('runs beside the loop of the agent', async () => {
    const cluster = createAgentCluster(installed);
    onTestFinished(() => cluster.end());
    await createNode('n6');
    const directory = configuredHost();
    await cluster.startAgent('n6', directory);
    await conditionOf('n6', 'False');
    appendLine(directory, 'bad line 9');
    expect(await conditionOf('n6', 'True')).toMatchObject({ reason: 'BadLine', message: 'bad line 9' });
  });

  it('may not write conditions of another Node, or one of the kubelet', async () => {
    await createNode('n4');
    const client = await installed.as(agentUser('n5'), [AGENT_GROUP]);
    const time = '2030-01-01T00:00:00Z';
    const condition = {
      status: 'True',
      reason: 'R',
      message: '',
      lastHeartbeatTime: time,
      lastTransitionTime: time,
    };
    const other = createNodeConditionsApi(client, 'n4').write([{ type: 'A', ...condition }], {
      force: false,
    });
    await expect(other).rejects.toThrow('an agent may write conditions of its own Node only');
    await createNode('n5');
    const kubelets = createNodeConditionsApi(client, 'n5').write([{ type: 'Ready', ...condition }], {
      force: true,
    });
    await expect(kubelets).rejects.toThrow("an agent may not write the kubelet's conditions");
  });
});

async function createNode(name: string): Promise<void> {
  const { client } = installed.server;
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  await client.create(NODES, node);
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
  const status = { conditions: [ready] };
  await client.apply(
    NODES,
    { ...node, status },
    {
      fieldManager: 'kubelet',
      force: true,
      subresource: 'status',
    },
  );
}

/** As node-problem-detector, which runs elsewhere. */
async function writeAsOther(name: string, reason: string): Promise<void> {
  const lastHeartbeatTime = clock.now().toISOString().replace(/\.\d+/, '');
  const status = {
    conditions: [{ type: 'FileProblem', status: 'False', reason, message: '', lastHeartbeatTime }],
  };
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status } as KubeObject;
  await installed.server.client.apply(NODES, node, {
    fieldManager: 'node-problem-detector',
    force: true,
    subresource: 'status',
  });
}

function configuredHost(): string {
  const directory = tempFolder('detector');
  mkdirSync(`${directory}/etc/kubenode/detector`, { recursive: true });
  mkdirSync(`${directory}/var/log`, { recursive: true });
  const { name, content } = configFile('file.json', fileMonitor);
  writeFileSync(`${directory}/etc/kubenode/detector/${name}`, content);
  writeFileSync(`${directory}/var/log/kern.log`, '');
  return directory;
}

async function start(machine: string): Promise<{ readonly directory: string; readonly log: MemoryLog }> {
  const directory = configuredHost();
  const client = await installed.as(agentUser(machine), [AGENT_GROUP]);
  const log = memoryLog();
  const host = createSandboxHost({ directory, clock });
  await host.open();
  const events = createNodeEvents({ node: machine, client, clock, random: systemRandom, log });
  const abort = new AbortController();
  const api = createNodeConditionsApi(client, machine);
  const options = { host, api, events, otherDetectorRuns: async () => false, clock, log };
  const running = runDetector(options, abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await running;
    await events.close(AbortSignal.abort());
    await host.close();
  });
  return { directory, log };
}

function standbyIn(log: MemoryLog): true | undefined {
  return log.lines.some(({ message }) => message === 'problem detector stands by') ? true : undefined;
}

async function conditionOf(node: string, status: string): Promise<Readonly<Record<string, string>>> {
  return await eventually(
    async () =>
      (await conditionsOf(node)).find((each) => each['type'] === 'FileProblem' && each['status'] === status),
    `the condition did not become ${status}`,
  );
}

async function typesOf(node: string): Promise<readonly string[]> {
  return (await conditionsOf(node)).map((each) => each['type'] ?? '').toSorted();
}

async function conditionsOf(name: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const { status } = await installed.server.client.get<NodeObject>(NODES, { name });
  return status?.conditions ?? [];
}

function appendLine(directory: string, message: string): void {
  const [, month, day = '', , time] = clock.now().toString().split(' ');
  const line = `${month} ${day.replace(/^0/, ' ')} ${time} node kernel: [  1.0] ${message}\n`;
  appendFileSync(`${directory}/var/log/kern.log`, line);
}
