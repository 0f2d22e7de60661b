import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentLock } from '../../../../src/agent/layout.ts';
import type { StoredStatus } from '../../../../src/agent/status/publisher.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { acquireLock } from '../../../../src/os/lock.ts';
import { agentUpgrade } from '../../../support/agent/upgrades.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const AT = '2030-01-01T12:00:00.000Z';
const STORED: StoredStatus = {
  machine: 'n1',
  writtenAt: AT,
  online: false,
  status: {
    components: [
      {
        name: 'proxy',
        desiredRef: 'proxy-1.1',
        currentRef: 'proxy-1.0',
        state: 'WaitingForGrant',
        running: true,
        ready: true,
        since: AT,
        corrections: 2,
        waiting: { reason: 'GrantNeeded', since: AT, message: 'staged: waits for a grant' },
      },
    ],
    drift: [{ component: 'proxy', path: '/etc/a', kind: 'Content', action: 'Corrected', at: AT }],
    conditions: [],
  },
};

let directory: string;

beforeEach(() => {
  directory = tempFolder('agent');
});

function store(conditions: Readonly<Record<string, string>>): void {
  const list = Object.entries(conditions).map(([type, status]) => ({
    type,
    status: status as 'True',
    reason: 'AsWanted',
    message: 'm',
    lastTransitionTime: AT,
  }));
  mkdirSync(join(directory, 'var/lib/kubenode'), { recursive: true });
  const stored = { ...STORED, status: { ...STORED.status, conditions: list } };
  writeFileSync(join(directory, 'var/lib/kubenode/status.json'), JSON.stringify(stored));
}

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = testIo();
  const code = await runCommandLine(io, ['agent', ...args, '--directory', directory]);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

async function holdAgentLock(): Promise<void> {
  const lock = await acquireLock(agentLock(directory));
  onTestFinished(() => lock.release());
}

describe('kubenode agent', () => {
  it.each<[name: string, conditions: Readonly<Record<string, string>>, code: number]>([
    ['0 while everything is ready', { ComponentsReady: 'True', UpToDate: 'True', DriftDetected: 'False' }, 0],
    ['1 while a component is not ready', { ComponentsReady: 'False', UpToDate: 'True' }, 1],
    ['1 while an entry is not reached', { ComponentsReady: 'True', UpToDate: 'Unknown' }, 1],
    ['1 while a difference is open', { ComponentsReady: 'True', UpToDate: 'True', DriftDetected: 'True' }, 1],
  ])('status exits with %s', async (_, conditions, code) => {
    store(conditions);
    await holdAgentLock();
    const found = await run('status');
    expect(found.code).toBe(code);
    expect(found.stdout).toContain('machine n1, API server away: the last accepted state is enforced');
    expect(found.stdout).toContain('WaitingForGrant');
  });

  it('status does not claim to enforce anything before the agent knows its Machine', async () => {
    const unknown = {
      status: 'Unknown',
      reason: 'NoDesiredState',
      message: 'no certificate',
      lastTransitionTime: AT,
    };
    const conditions = ['ComponentsReady', 'UpToDate', 'DriftDetected'].map((type) => ({ ...unknown, type }));
    store({});
    const stored = { ...STORED, status: { components: [], drift: [], conditions } };
    writeFileSync(join(directory, 'var/lib/kubenode/status.json'), JSON.stringify(stored));
    await holdAgentLock();
    const { code, stdout } = await run('status');
    expect(code).toBe(1);
    expect(stdout).toContain('machine n1, nothing is enforced yet');
  });

  it('status tells that no agent runs, however good its last report was', async () => {
    store({ ComponentsReady: 'True', UpToDate: 'True', DriftDetected: 'False' });
    const { code, stdout } = await run('status');
    expect(code).toBe(1);
    expect(stdout).toContain(
      'machine n1, no agent runs here: nothing is enforced, and its last report is from ',
    );
    const json = JSON.parse((await run('status', '-o', 'json')).stdout) as object;
    expect(json).toMatchObject({ machine: 'n1', agentRuns: false });
  });

  it('names a damaged file, and what to do', async () => {
    store({});
    writeFileSync(join(directory, 'var/lib/kubenode/status.json'), '{x');
    const { code, stderr } = await run('status');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: the status of the agent is damaged\n {2}where: .*status\.json\n {2}hint: restart/,
    );
  });

  it('status shows the steps of repair jobs, and what waits', async () => {
    store({});
    const file = join(directory, 'var/lib/kubenode/status.json');
    const step = {
      job: 'n1-hang-7c1f02ab-r1-a1',
      step: 's1',
      try: 1,
      action: 'Reboot',
      state: 'Refused',
      at: AT,
    };
    const jobs = [{ ...step, code: 'Held', message: 'the machine is held' }];
    writeFileSync(file, JSON.stringify({ ...STORED, jobs }));
    const { stdout } = await run('status');
    expect(stdout).toMatch(/n1-hang-7c1f02ab-r1-a1 +s1 +Reboot +1 +Refused Held +\S+ +the machine is held/);
  });

  it('AGT-43 status shows the upgrade of the agent, how the last one ended, and what is denied', async () => {
    const own = { name: 'kubenode-agent', deniedDigests: ['sha256:bad'] };
    mkdirSync(join(directory, 'var/lib/kubenode/agent'), { recursive: true });
    const stored = { ...STORED, status: { ...STORED.status, components: [own] } };
    writeFileSync(join(directory, 'var/lib/kubenode/status.json'), JSON.stringify(stored));
    const failure = { code: 'AgentCrashed', message: 'it ended' };
    const last = { key: 'k', version: '1.1', result: 'RolledBack', program: '/old', at: AT, failure };
    const slots = { last, upgrade: agentUpgrade({ version: '1.2', step: 'Probation' }) };
    writeFileSync(join(directory, 'var/lib/kubenode/agent/slots.json'), JSON.stringify(slots));
    const { stdout } = await run('status');
    expect(stdout).toMatch(/^program +\/new$/m);
    expect(stdout).toMatch(/^upgrade +to version 1.2: Probation, not healthy yet$/m);
    expect(stdout).toMatch(/^last upgrade +to version 1.1: RolledBack \S+ ago: it ended$/m);
    expect(stdout).toMatch(/^denied +sha256:bad$/m);
  });

  it('components prints the reports as JSON', async () => {
    store({});
    const { stdout } = await run('components', '-o', 'json');
    expect(JSON.parse(stdout)).toEqual(STORED.status.components);
  });

  it('why explains one component', async () => {
    store({});
    const { stdout } = await run('why', 'proxy');
    expect(stdout).toContain('GrantNeeded: staged: waits for a grant');
    expect(stdout).toContain('Corrected Content /etc/a');
    const missing = await run('why', 'nginx');
    expect(missing.code).toBe(65);
    expect(missing.stderr).toContain('known components: proxy');
  });

  it('names the folder when no agent has run there', async () => {
    const { code, stderr } = await run('status');
    expect(code).toBe(69);
    expect(stderr).toContain('no agent has run on this host');
  });
});
