/** Real agents with their own rights probe a silent machine that their Machines name. The test writes what the machine controller writes. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { judgePeerAnswers } from '../../../src/api/diagnosis/peer-answers.ts';
import type { PeerResult } from '../../../src/api/enums.ts';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { MachineSilence } from '../../../src/api/generated/types.ts';
import { installation } from '../../../src/api/install/install.ts';
import { AGENT_GROUP, agentUser, MANAGER_AGENT, MANAGER_MACHINE } from '../../../src/api/names.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { startTlsServer } from '../../support/kube/tls-server.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { type AgentCluster, createAgentCluster, RUNS } from './agent-cluster.ts';

const PEERS = ['p-1', 'p-2', 'p-3'];
const API = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine' };
/** The agents probe twice a minute, and report with their next heartbeat. */
const ANSWERED = { interval: 500 };

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

async function writeStatus(name: string, status: object): Promise<void> {
  const object = { ...API, metadata: { name }, status };
  const options = { fieldManager: MANAGER_MACHINE, force: true, subresource: 'status' };
  await installed.server.client.apply(MACHINES, object, options);
}

async function ask({ peers, ...target }: MachineSilence): Promise<void> {
  await writeStatus('s-1', { silence: { peers, ...target } });
  await Promise.all(
    peers.map((name) => writeStatus(name, { probeRequests: [{ machine: 's-1', ...target }] })),
  );
}

async function judged(silence: MachineSilence): Promise<PeerResult> {
  const found = await Promise.all(PEERS.map(async (name) => [name, await cluster.machine(name)] as const));
  const machines = new Map(found);
  const answers = (peer: string) => machines.get(peer)?.status?.peers;
  return judgePeerAnswers({ name: 's-1', silence }, answers, createSystemClock().now()).result;
}

describe('agents that probe a silent machine, with a real API server', () => {
  it('R20 find its kubelet alive, then the host without one, by the rights of agents, and stop when it reports', async () => {
    const version = await cluster.publish('1.0', RUNS);
    for (const name of ['s-1', ...PEERS]) await cluster.declare(name, version);
    await Promise.all(PEERS.map((name) => cluster.startAgent(name, tempFolder(name))));
    const kubelet = await startTlsServer();
    kubelet.answer((_, response) => response.writeHead(401).end());
    const since = createSystemClock().now().toISOString();
    const silence = { address: '127.0.0.1', port: kubelet.port, since, peers: PEERS };
    expect(await judged(silence)).toBe('Unknown');

    await ask(silence);
    await expect.poll(() => judged(silence), ANSWERED).toBe('KubeletAnswers');
    const { users } = kubelet;
    expect(new Set(users)).toEqual(new Set(['']));

    // Nothing listens on the port 1 of this machine.
    const stopped = { ...silence, port: 1, since: createSystemClock().now().toISOString() };
    await ask(stopped);
    await expect.poll(() => judged(stopped), ANSWERED).toBe('Refused');
    expect(await judged(silence)).toBe('Unknown');

    await Promise.all(PEERS.map((name) => writeStatus(name, {})));
    const left = async (): Promise<readonly unknown[]> =>
      (await Promise.all(PEERS.map((name) => cluster.machine(name)))).map(({ status }) => status?.peers);
    await expect.poll(left, ANSWERED).toEqual(PEERS.map(() => undefined));
  });

  it('R20 have no agent name machines to probe, nor answer for another one', async () => {
    const version = await cluster.publish('1.1', RUNS);
    for (const name of PEERS) await cluster.declare(name, version);
    const agent = await installed.as(agentUser('p-1'), [AGENT_GROUP]);
    const write = async (name: string, status: object): Promise<void> => {
      const object = { ...API, metadata: { name }, status };
      const options = { fieldManager: MANAGER_AGENT, force: true, subresource: 'status' };
      await agent.apply(MACHINES, object, options);
    };
    const since = createSystemClock().now().toISOString();
    const target = { address: '10.0.0.1', port: 10_250, since };
    const times = { requestedAt: since, since, lastProbeTime: since };
    const peers = [{ machine: 's-1', result: 'NoAnswer', ...times }];
    await expect(write('p-1', { probeRequests: [{ machine: 's-1', ...target }] })).rejects.toThrow(
      /an agent may write/,
    );
    await expect(write('p-1', { silence: { ...target, peers: ['p-2'] } })).rejects.toThrow(
      /an agent may write/,
    );
    await expect(write('p-2', { peers })).rejects.toThrow(/own Machine only/);
    await write('p-1', { peers });
    expect((await cluster.machine('p-1')).status?.peers).toEqual(peers);
  });
});
