import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sandboxFolders } from '../../../src/agent/host/sandbox/folders.ts';
import { JOBS_CONFIG_FILE } from '../../../src/agent/layout.ts';
import { REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import {
  AGENT_GROUP,
  agentUser,
  MANAGER_AGENT,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
} from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { byCode } from '../../../src/kube/objects/digest.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { runGrantCommand } from '../../support/grant/command.ts';
import { createGranter, type Granter } from '../../support/granter.ts';
import { createRepairer, type Repairer } from '../../support/repairs.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import {
  type AgentCluster,
  createAgentCluster,
  KilledAgent,
  RUNS,
  type RunningAgent,
  startsIn,
} from './agent-cluster.ts';

let installed: InstalledServer;
let cluster: AgentCluster;
let granter: Granter;
let repairer: Repairer;
beforeAll(async () => {
  // With every policy: nothing here may write what the cluster would refuse.
  installed = await startInstalledServer();
  cluster = createAgentCluster(installed);
  const clock = createSystemClock();
  const [defender, componentset] = [await signIn(PRINCIPAL_DEFENDER), await signIn(PRINCIPAL_COMPONENTSET)];
  granter = createGranter({ defender, componentset, clock });
  const [remedy, remedyjob] = [await signIn(PRINCIPAL_REMEDY), await signIn(PRINCIPAL_REMEDYJOB)];
  repairer = createRepairer({ granter, defender, remedy, remedyjob, clock });
});
afterEach(() => cluster.end());
afterAll(() => installed?.stop());

async function signIn(principal: string): Promise<Client> {
  const { user, groups } = createPrincipal(principal);
  return await installed.as(user, groups);
}

function bootIdOf(directory: string): string {
  return (JSON.parse(readFileSync(sandboxFolders(directory).bootFile, 'utf8')) as { bootId: string }).bootId;
}

interface StartedMachine {
  readonly directory: string;
  readonly agent: RunningAgent;
}

/** A machine whose service proxy runs and may be restarted, with a Node, as its kubelet would register it. */
async function startMachine(name: string, version: string, aheadMs = 0): Promise<StartedMachine> {
  const directory = tempFolder('agent');
  const config = join(directory, JOBS_CONFIG_FILE);
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, JSON.stringify({ services: ['proxy'] }));
  await cluster.declare(name, await cluster.publish(version, RUNS), false);
  await granter.grantEntries(name);
  const agent = await cluster.startAgent(name, directory, aheadMs);
  await cluster.reported(name, { state: 'Committed', ready: true });
  await granter.settle(name);
  await installed.server.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await registerBoot(name, directory);
  return { directory, agent };
}

async function registerBoot(name: string, directory: string): Promise<void> {
  const nodeInfo = { bootID: bootIdOf(directory) };
  await installed.server.client.patch(
    NODES,
    { name },
    { type: 'merge', body: { status: { nodeInfo } } },
    { subresource: 'status' },
  );
}

async function agentStatus(directory: string): Promise<string> {
  const io = testIo();
  await runCommandLine(io, ['agent', 'status', '--directory', directory]);
  return io.stdout;
}

/** The status on the host is written after the answer. */
async function shows(directory: string, text: RegExp): Promise<true> {
  return await eventually(
    async () => (text.test(await agentStatus(directory)) ? true : undefined),
    `${text} is not in kubenode agent status`,
  );
}

describe('a repair job on a sandbox, with a real API server', () => {
  it('AGT-50 AGT-52 restarts a service and reboots the machine on a release, and shows both', async () => {
    const { directory } = await startMachine('n1', '1.0');
    const restart = await repairer.release({
      machine: 'n1',
      step: 'RestartService',
      with: { service: 'proxy' },
    });
    expect(await repairer.answered(restart)).toMatchObject({ state: 'Succeeded', try: 1 });
    expect(startsIn(directory)).toEqual(['started 1.0', 'started 1.0']);
    expect(await shows(directory, /by-hand-\w+-r1-a1 +s1 +RestartService +1 +Succeeded/)).toBe(true);
    // The restart is not taken for drift of the component.
    expect((await cluster.machine('n1')).status?.drift ?? []).toEqual([]);

    await granter.settle('n1');
    const before = bootIdOf(directory);
    const reboot = await repairer.release({ machine: 'n1', step: 'Reboot' });
    const rebooted = await repairer.answered(reboot);
    expect(rebooted).toMatchObject({
      state: 'Succeeded',
      bootIDBefore: before,
      bootIDAfter: bootIdOf(directory),
    });
    expect(bootIdOf(directory)).not.toBe(before);
    expect(await shows(directory, /s1 +Reboot +1 +Succeeded/)).toBe(true);
    await cluster.reported('n1', { state: 'Committed', ready: true });
    expect(startsIn(directory)).toHaveLength(3);
  });

  it('runs one step by hand, and prints the answer of the agent', async () => {
    const { directory } = await startMachine('n3', '3.0');
    const kubeconfig = await installed.server.kubeconfigFor({ user: 'root', groups: ['system:masters'] });
    const byHand = async (
      ...args: readonly string[]
    ): Promise<{ code: number; out: string; err: string }> => {
      const io = testIo();
      const code = await runGrantCommand(io, ['n3', ...args, '--kubeconfig', kubeconfig]);
      return { code, out: io.stdout, err: io.stderr };
    };
    const restarted = await byHand('--step', 'RestartService', '--with', '{"service": "proxy"}');
    expect(restarted).toMatchObject({ code: 0 });
    expect(restarted.out).toContain('Succeeded: proxy was restarted\nstarted 3.0');
    expect(startsIn(directory)).toHaveLength(2);
    const reinstalled = await byHand('--step', 'ReinstallComponent', '--with', '{"component": "proxy"}');
    expect(reinstalled).toMatchObject({ code: 0 });
    expect(startsIn(directory)).toHaveLength(3);
    const refused = await byHand('--step', 'RestartService', '--with', '{"service": "sshd"}');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.out).toContain('Refused NotAllowed: the configuration of this agent does not allow sshd');
    // Open jobs would keep components waiting, and the ledger would not be theirs.
    const jobs = await installed.server.client.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
    const byHandJobs = jobs.items.filter(({ spec }) => spec.machine.name === 'n3');
    const outcomes = byHandJobs.map(({ status }) => status?.outcome?.class ?? 'none');
    expect(outcomes.toSorted(byCode)).toEqual(['Cancelled', 'Succeeded', 'Succeeded']);
    expect(await byHand('--step', 'RestartService', '--with', '{"unit": "proxy"}')).toMatchObject({
      code: 65,
    });
    expect(await byHand('--step', 'RestartService', '--with', 'proxy')).toMatchObject({ code: 64 });
    expect(await byHand('--step', 'Drain')).toMatchObject({ code: 64 });
  });

  it('AGT-42 begins no step with a clock that is two minutes ahead of the API server', async () => {
    const { directory } = await startMachine('n4', '4.0', 120_000);
    const job = await repairer.release({ machine: 'n4', step: 'Reboot' });
    const answer = await repairer.answered(job);
    expect(answer).toMatchObject({ state: 'Refused', code: 'ClockSkew' });
    expect(answer.message).toMatch(/^this clock is 1[12]\d s ahead of the API server/);
    expect(startsIn(directory)).toEqual(['started 4.0']);
  });

  it('AGT-51 reboots once, and reports it, when the agent is killed again and again', async () => {
    const { directory, agent } = await startMachine('n5', '5.0');
    await agent.stop();
    const kubeconfig = await installed.server.kubeconfigFor({ user: agentUser('n5'), groups: [AGENT_GROUP] });
    const killed = new KilledAgent(['--machine', 'n5', '--directory', directory, '--kubeconfig', kubeconfig]);
    onTestFinished(() => killed.kill());
    // A boot takes longer: none is missed.
    const boots = new Set<string>();
    const sampler = setInterval(() => boots.add(bootIdOf(directory)), 20);
    onTestFinished(() => clearInterval(sampler));
    killed.start();
    const job = await repairer.release({ machine: 'n5', step: 'Reboot', timeoutSeconds: 20 });
    // The program takes about a second to start, and as long until it has read the jobs.
    for (const ms of [900, 1200, 1500, 1800, 2200, 2600, 3000]) {
      await pause(ms);
      await killed.kill();
      killed.start();
    }
    const answer = await repairer.answered(job);
    await pause(100);
    expect(boots.size).toBeLessThanOrEqual(2);
    // Killed between record and act it cannot be known. Otherwise the boot id tells.
    expect(boots.size === 2 ? ['Succeeded'] : ['Ambiguous', 'Refused']).toContain(answer.state);
  });

  it('AGT-52 refuses what is not for this boot or not allowed, and writes nothing but its answer', async () => {
    const { directory } = await startMachine('n2', '2.0');
    const other = await repairer.release({
      machine: 'n2',
      step: 'RestartService',
      with: { service: 'sshd' },
    });
    expect(await repairer.answered(other)).toMatchObject({ state: 'Refused', code: 'NotAllowed' });
    await granter.settle('n2');
    // The Node was not updated after a boot.
    const nodeInfo = { bootID: 'an-earlier-boot' };
    await installed.server.client.patch(
      NODES,
      { name: 'n2' },
      { type: 'merge', body: { status: { nodeInfo } } },
      { subresource: 'status' },
    );
    const late = await repairer.release({ machine: 'n2', step: 'Reboot' });
    expect(await repairer.answered(late)).toMatchObject({ state: 'Refused', code: 'WrongBoot' });
    expect(startsIn(directory)).toEqual(['started 2.0']);
    const job = await installed.server.client.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { name: late });
    const own = job.metadata.managedFields?.filter(({ manager }) => manager === MANAGER_AGENT);
    expect(own?.map(({ fieldsV1 }) => Object.keys((fieldsV1 as { 'f:status': object })['f:status']))).toEqual(
      [['f:agent']],
    );
    // A certificate of another machine answers no job of this one.
    const stolen = await installed.as(agentUser('n1'), [AGENT_GROUP]);
    const status = { agent: { steps: [{ id: 's1', try: 2, fence: 1, state: 'Succeeded' }] } };
    const forged = { apiVersion: 'kubenode.dev/v1alpha1', kind: job.kind, metadata: { name: late }, status };
    await expect(
      stolen.apply(REMEDY_OPERATION_JOBS, forged, {
        fieldManager: MANAGER_AGENT,
        force: true,
        subresource: 'status',
      }),
    ).rejects.toThrow('an agent may write jobs of its own Machine only');
  });
});
