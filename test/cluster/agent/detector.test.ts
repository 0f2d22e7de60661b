import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runDetector } from '../../../src/agent/detector/detector.ts';
import { conditionOwners } from '../../../src/agent/detector/report/condition-owners.ts';
import type { HostPrograms } from '../../../src/agent/detector/report/host-programs.ts';
import {
  createNodeConditionsApi,
  type NodeConditionsApi,
} from '../../../src/agent/detector/report/node-conditions-api.ts';
import { createNodeEvents } from '../../../src/agent/detector/report/node-events.ts';
import { createSandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { AGENT_GROUP, agentUser } from '../../../src/api/names.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { configFile, fileMonitor } from '../../support/agent/detector-config.ts';
import { createStandInNpd, type StandInNpd } from '../../support/agent/stand-in-npd.ts';
import { eventually } from '../../support/eventually.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { createAgentCluster } from './agent-cluster.ts';
import { eventsAbout } from './machine-events.ts';

interface NodeObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Readonly<Record<string, string>>[] };
}

const monitor = {
  ...fileMonitor,
  conditions: [
    { type: 'FileProblem', reason: 'NoFileProblem', message: 'no problem in the file' },
    { type: 'OtherProblem', reason: 'NoOtherProblem', message: 'no other problem' },
  ],
  rules: [
    { type: 'permanent', condition: 'FileProblem', reason: 'BadLine', pattern: 'bad line \\d+' },
    { type: 'permanent', condition: 'OtherProblem', reason: 'OtherLine', pattern: 'other line \\d+' },
    { type: 'temporary', reason: 'Killed', pattern: 'killed process \\d+' },
  ],
};

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
    expect(await typesOf('n1')).toEqual(['FileProblem', 'OtherProblem', 'Ready']);
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

  it('AGT-72 never removes a condition of node-problem-detector, whose patch owns no more than two times', async () => {
    await createNode('n2');
    const { directory } = await start('n2');
    const { reason = '', message = '' } = await conditionOf('n2', 'False');
    // A heartbeat in the same second would change nothing.
    const npd = await standIn('n2', 10_000);
    await npd.sync({ FileProblem: { status: 'False', reason, message } });
    expect(await ownedBy('n2', 'node-problem-detector')).toEqual(['lastHeartbeatTime', 'lastTransitionTime']);
    const theirs = await conditionOf('n2', 'False');
    // The next write of the agent is about another condition.
    appendLine(directory, 'other line 7');
    await conditionOf('n2', 'True', 'OtherProblem');
    expect(await conditionOf('n2', 'False')).toEqual(theirs);
    rmSync(`${directory}/etc`, { recursive: true });
    await eventually(
      async () => ((await typesOf('n2')).includes('OtherProblem') ? undefined : true),
      'the other condition was not removed',
    );
    expect(await conditionOf('n2', 'False')).toEqual(theirs);
  });

  it('AGT-72 leaves a condition and its Events to node-problem-detector alone, and yields when it begins', async () => {
    await createNode('n3');
    const npd = await standIn('n3');
    await npd.sync({ FileProblem: { status: 'False', reason: 'Theirs', message: '' } });
    const { directory, log } = await start('n3');
    await conditionOf('n3', 'False', 'OtherProblem');
    await eventually(async () => standbyIn(log), 'the detector did not stand by');
    appendLine(directory, 'bad line 7');
    appendLine(directory, 'killed process 8');
    await npd.event('file-monitor', 'Killed', 'killed process 8');
    appendLine(directory, 'other line 9');
    await conditionOf('n3', 'True', 'OtherProblem');
    await eventually(async () => await reasonsOf('n3', 'OtherLine'), 'no Event was written');
    expect(await conditionOf('n3', 'False')).toMatchObject({ reason: 'Theirs' });
    expect(await reasonsOf('n3', 'Killed')).toHaveLength(1);
    expect(await reasonsOf('n3', 'BadLine')).toBeUndefined();

    await createNode('n7');
    const second = await start('n7');
    await conditionOf('n7', 'False');
    const later = await standIn('n7');
    await later.sync({ FileProblem: { status: 'False', reason: 'Theirs', message: '' } });
    await eventually(async () => standbyIn(second.log), 'the detector did not yield');
    appendLine(second.directory, 'bad line 8');
    appendLine(second.directory, 'other line 9');
    await conditionOf('n7', 'True', 'OtherProblem');
    expect(await conditionOf('n7', 'False')).toMatchObject({ reason: 'Theirs' });
  });

  it('AGT-72 takes over within a minute of the end of node-problem-detector, with the lines since', async () => {
    await createNode('n8');
    const npd = await standIn('n8');
    const [, other] = monitor.conditions;
    const theirs = { status: 'False', reason: 'Theirs', message: '' } as const;
    // Of what has the same values, node-problem-detector stays an owner.
    const same = { status: 'False', reason: 'NoOtherProblem', message: 'no other problem' } as const;
    expect(other).toEqual({ type: 'OtherProblem', reason: same.reason, message: same.message });
    await npd.sync({ FileProblem: theirs, OtherProblem: same });
    let names = new Set(['node-problem-de']);
    const { directory, log, skip } = await start('n8', async () => ({ names }));
    await eventually(async () => standbyIn(log), 'the detector did not stand by');
    names = new Set();
    skip(20_000);
    appendLine(directory, 'bad line 7');
    appendLine(directory, 'killed process 8');
    expect(await conditionOf('n8', 'False')).toMatchObject({ reason: 'Theirs' });
    skip(35_000);
    expect(await conditionOf('n8', 'True')).toMatchObject({ reason: 'BadLine', message: 'bad line 7' });
    await eventually(async () => await reasonsOf('n8', 'Killed'), 'no Event was written');
    await eventually(async () => await reasonsOf('n8', 'BadLine'), 'no Event was written');
    expect(await ownedBy('n8', 'node-problem-detector', 'OtherProblem')).toContain('status');
    appendLine(directory, 'other line 9');
    await conditionOf('n8', 'True', 'OtherProblem');
  });

  it('writes its conditions at once to a Node that was deleted and registered again', async () => {
    await createNode('n9');
    await start('n9');
    await conditionOf('n9', 'False');
    const { client } = installed.server;
    const { metadata } = await client.get(NODES, { name: 'n9' });
    await client.delete(NODES, { name: 'n9' }, { uid: metadata.uid ?? '' });
    await createNode('n9');
    // Long before the next heartbeat.
    await conditionOf('n9', 'False', 'OtherProblem');
    expect(await typesOf('n9')).toEqual(['FileProblem', 'OtherProblem', 'Ready']);
  });

  it('AGT-72 takes nothing over that another program wrote since the Node was read', async () => {
    await createNode('n10');
    const client = await installed.as(agentUser('n10'), [AGENT_GROUP]);
    const api = createNodeConditionsApi({
      client,
      name: 'n10',
      clock,
      log: memoryLog(),
      random: systemRandom,
    });
    const observed = await client.get(NODES, { name: 'n10' });
    const npd = await standIn('n10');
    await npd.sync({ FileProblem: { status: 'False', reason: 'Theirs', message: '' } });
    const ours = { type: 'FileProblem', status: 'True', reason: 'Ours', message: '' };
    const late = api.write([ours], observed);
    await expect(late).rejects.toThrow(expect.objectContaining({ code: 'Conflict' }));
    expect(await conditionOf('n10', 'False')).toMatchObject({ reason: 'Theirs' });
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
    const apiOf = (name: string): NodeConditionsApi =>
      createNodeConditionsApi({ client, name, clock, log: memoryLog(), random: systemRandom });
    const node = (name: string): Promise<KubeObject> => client.get(NODES, { name });
    const time = '2030-01-01T00:00:00Z';
    const condition = {
      status: 'True',
      reason: 'R',
      message: '',
      lastHeartbeatTime: time,
      lastTransitionTime: time,
    };
    const other = apiOf('n4').write([{ type: 'A', ...condition }], await node('n4'));
    await expect(other).rejects.toThrow('an agent may write conditions of its own Node only');
    await createNode('n5');
    const kubelets = apiOf('n5').write([{ type: 'Ready', ...condition }], await node('n5'));
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

async function standIn(node: string, aheadMs = 0): Promise<StandInNpd> {
  const { kubeconfig } = installed.server;
  const ahead = { ...clock, now: () => new Date(clock.now().getTime() + aheadMs) };
  const npd = await createStandInNpd({ kubeconfig, node, clock: ahead });
  onTestFinished(() => npd.close());
  return npd;
}

/** Fields of a condition. */
async function ownedBy(name: string, manager: string, type = 'FileProblem'): Promise<readonly string[]> {
  const node = await installed.server.client.get(NODES, { name });
  const found = conditionOwners(node, type, 'kubenode-agent').others;
  return found.find((each) => each.manager === manager)?.fields.toSorted() ?? [];
}

/** Undefined when there is none. */
async function reasonsOf(node: string, reason: string): Promise<readonly string[] | undefined> {
  const found = (await eventsAbout(installed.server.client, node)).filter((each) => each.reason === reason);
  return found.length > 0 ? found.map((each) => each.reason) : undefined;
}

function configuredHost(): string {
  const directory = tempFolder('detector');
  mkdirSync(`${directory}/etc/kubenode/detector`, { recursive: true });
  mkdirSync(`${directory}/var/log`, { recursive: true });
  const { name, content } = configFile('file.json', monitor);
  writeFileSync(`${directory}/etc/kubenode/detector/${name}`, content);
  writeFileSync(`${directory}/var/log/kern.log`, '');
  return directory;
}

interface Started {
  readonly directory: string;
  readonly log: MemoryLog;
  /** Lets so much time pass for the detector. */
  readonly skip: (ms: number) => void;
}

async function start(machine: string, programs?: () => Promise<HostPrograms | undefined>): Promise<Started> {
  const directory = configuredHost();
  const client = await installed.as(agentUser(machine), [AGENT_GROUP]);
  const log = memoryLog();
  const host = createSandboxHost({ directory, clock });
  await host.open();
  const events = createNodeEvents({ node: machine, client, clock, random: systemRandom, log });
  const abort = new AbortController();
  let skippedMs = 0;
  // A test that skips time needs a clock in which a busy machine makes no difference.
  const pace = programs ? 0.1 : 1;
  const own = { ...clock, monotonicMs: () => clock.monotonicMs() * pace + skippedMs };
  const api = createNodeConditionsApi({ client, name: machine, clock: own, log, random: systemRandom });
  const running = runDetector(
    { host, api, events, programs: programs ?? (async () => undefined), clock: own, log },
    abort.signal,
  );
  onTestFinished(async () => {
    abort.abort();
    await running;
    await events.close(AbortSignal.abort());
    await host.close();
  });
  return { directory, log, skip: (ms) => void (skippedMs += ms) };
}

function standbyIn(log: MemoryLog): true | undefined {
  return log.lines.some(({ message }) => message === 'problem detector stands by') ? true : undefined;
}

async function conditionOf(
  node: string,
  status: string,
  type = 'FileProblem',
): Promise<Readonly<Record<string, string>>> {
  return await eventually(
    async () => (await conditionsOf(node)).find((each) => each['type'] === type && each['status'] === status),
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
