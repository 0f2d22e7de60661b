/** `kubenode start --demo`: one command to a fleet with machines, a version that rolls, one that goes back, and nothing left at the end. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  CLUSTERS,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type {
  Cluster,
  Machine,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { endMachines } from '../../../src/cli/commands/local/machines-folder.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { stopLocalFleet } from '../../../src/local/fleet.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
/** A fleet of ten machines comes up in 100 seconds on a busy machine with two cores. */
const MINUTES = 900_000;
const PATIENCE = { timeout: 600_000, interval: 500 };

describe('kubenode start --demo', { timeout: MINUTES, shuffle: false }, () => {
  const clock = createSystemClock();
  const root = tempFolder('demo');
  const [dir, repository] = [join(root, 'fleet'), join(root, 'repository')];
  let command: ChildProcess;
  let output = '';
  const clients = new Map<string, Client>();

  beforeAll(() => {
    const args = [MAIN, 'start', '--demo', repository, '--dir', dir];
    command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [command.stdout, command.stderr]) {
      stream?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    }
  });

  afterAll(async () => {
    command.kill('SIGKILL');
    for (const client of clients.values()) await client.close();
    await endMachines(dir, clock);
    await stopLocalFleet({ dir, clock, onStep: () => undefined, wipe: true });
  });

  // What a machine or a stage waits for is in the output of the command, and in no assertion.
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(`${output.slice(-6000)}\n`);
  });

  it('brings the first commit to every stage, and ten machines to Ready', async () => {
    await expect.poll(() => statesOf('Proven'), PATIENCE).toEqual(['pre', 'prod', 'test']);
    for (const [cluster, machines] of Object.entries({ test: 2, pre: 2, prod: 6 })) {
      const ready = (await machinesOf(cluster)).filter(
        ({ status }) => conditionOf(status?.conditions, 'Ready')?.status === 'True',
      );
      expect(ready).toHaveLength(machines);
    }
    expect(output).toContain('A hub and three clusters are running');
  });

  it('rolls a version over all stages', async () => {
    const head = commit("web: '1.0.0'", "web: '1.1.0'");
    await expect.poll(() => provenAt(head), PATIENCE).toEqual(['pre', 'prod', 'test']);
    for (const cluster of ['test', 'pre', 'prod']) {
      expect(new Set(await webVersions(cluster))).toEqual(new Set(['web-1.1.0']));
    }
  });

  it('stops a version that does not become healthy at its first machine, and takes it back', async () => {
    commit("web: '1.1.0'", "web: '2.0.0'");
    await expect.poll(() => statesOf('Failed'), PATIENCE).toEqual(['test']);
    await expect.poll(() => webVersions('test'), PATIENCE).toEqual(['web-1.1.0', 'web-1.1.0']);
    const { status } = await (await clientOf('test')).get<MachineComponentSet>(MACHINE_COMPONENT_SETS, SET);
    expect(status?.failedMachines).toHaveLength(1);
    expect(conditionOf(status?.conditions, 'Ready')?.message).toContain('answered 500');
    expect(new Set(await webVersions('prod'))).toEqual(new Set(['web-1.1.0']));
  });

  it('reboots a machine whose kernel hangs, and puts it back into service', async () => {
    const client = await clientOf('test');
    const [sick] = await machinesOf('test');
    const { name = '', uid = '' } = sick?.metadata ?? {};
    const before = await readNode(client, name);
    const line = `${clock.now().toISOString()} task web:1 blocked for more than 120 seconds.\n`;
    appendFileSync(join(dir, 'clusters/test/machines', uid, 'host/var/log/kernel.log'), line.repeat(3));
    await expect.poll(() => jobOutcomes(client), PATIENCE).toEqual([`${name} reboot Succeeded`]);
    const after = await readNode(client, name);
    expect(bootIdOf(after)).not.toBe(bootIdOf(before));
    expect(isCordoned(after)).toBe(false);
  });

  it('is up to date again after git revert', async () => {
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'revert', '--no-edit', 'HEAD');
    const head = git('rev-parse', 'HEAD');
    await expect.poll(() => provenAt(head), PATIENCE).toEqual(['pre', 'prod', 'test']);
  });

  it('leaves no process after Ctrl-C', async () => {
    const ended = new Promise((resolve) => command.once('exit', resolve));
    command.kill('SIGINT');
    await ended;
    expect(processesOf(dir)).toEqual([]);
  });

  const SET = { name: 'general' };

  async function clientOf(context: string): Promise<Client> {
    const known = clients.get(context);
    if (known) return known;
    const client = await connect({ clock, kubeconfig: join(dir, 'kubeconfig'), context });
    clients.set(context, client);
    return client;
  }

  /** None while the hub comes up. */
  async function clusters(): Promise<readonly Cluster[]> {
    if (!existsSync(join(dir, 'kubeconfig'))) return [];
    const hub = await clientOf('hub').catch(() => undefined);
    const page = await hub?.list<Cluster>(CLUSTERS).catch(() => undefined);
    return page?.items ?? [];
  }

  async function statesOf(state: string): Promise<readonly string[]> {
    const found = (await clusters()).filter(({ status }) => status?.sync?.state === state);
    return found.map(({ metadata }) => metadata.name).toSorted();
  }

  async function provenAt(head: string): Promise<readonly string[]> {
    const found = (await clusters()).filter(
      ({ status }) => status?.sync?.state === 'Proven' && status.sync.commit === head,
    );
    return found.map(({ metadata }) => metadata.name).toSorted();
  }

  async function machinesOf(cluster: string): Promise<readonly Machine[]> {
    return (await (await clientOf(cluster)).list<Machine>(MACHINES)).items;
  }

  async function webVersions(cluster: string): Promise<readonly (string | undefined)[]> {
    return (await machinesOf(cluster)).map(
      ({ status }) => status?.components?.find(({ name }) => name === 'web')?.currentRef,
    );
  }

  function git(...args: string[]): string {
    return execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim();
  }

  /** The new head. */
  function commit(from: string, to: string): string {
    const file = join(repository, 'fleet/versions.ts');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', to);
    return git('rev-parse', 'HEAD');
  }
});

async function readNode(client: Client, name: string): Promise<KubeObject> {
  return await client.get(NODES, { name });
}

async function jobOutcomes(client: Client): Promise<readonly string[]> {
  const { items } = await client.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
  return items.map(({ spec, status }) => `${spec.machine.name} ${spec.rung.name} ${status?.outcome?.class}`);
}

function bootIdOf(node: KubeObject): string | undefined {
  return textAt(node, 'status', 'nodeInfo', 'bootID');
}

function processesOf(folder: string): readonly string[] {
  const all = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(folder));
}
