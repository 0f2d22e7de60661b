/** An agent that joins with a token: the real approver and the real signer, and only the rights that it gets from them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { nodeOfBootstrap } from '../../../src/agent/identity/access.ts';
import { createJsonLog } from '../../../src/agent/log.ts';
import { type AgentAccess, runAgent } from '../../../src/agent/main.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent } from '../../../src/api/generated/types.ts';
import { installation } from '../../../src/api/install/install.ts';
import { NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
} from '../../../src/kube/auth/certificate-requests.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { KUBEADM_KUBELET_CERTIFICATE } from '../../../src/providers/cloud/kubeadm-data.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { endSandbox } from '../../support/agent/sandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { bootstrapConfigFor, startIdentityControllers } from '../controllers/identity-controllers.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
const DAY_MS = 86_400_000;
const CURRENT = 'var/lib/kubenode/pki/agent/current.pem';
const KUBELET = 'var/lib/kubenode/pki/kubelet';

let installed: InstalledServer;
let stopControllers: (() => Promise<void>) | undefined;
beforeAll(async () => {
  // Grants are written here without the Defender, which this policy forbids.
  const objects = installation().filter(({ metadata }) => !metadata.name.includes('components-writer'));
  installed = await startInstalledServer(objects);
  stopControllers = await startIdentityControllers(installed);
});
afterAll(async () => {
  await stopControllers?.();
  await installed?.stop();
});

let ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  ends = [];
});

async function declare(name: string, components: readonly object[] = []): Promise<void> {
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name },
    spec: { infra: { provider: 'local' }, host: { type: 'sandbox' }, components },
  };
  await installed.server.client.apply(MACHINES, object, { fieldManager: 'test', force: true });
}

/** The requests for the agent of a Machine; undefined: there is none. */
async function requests(name: string): Promise<CertificateRequestObject[] | undefined> {
  const { items } = await installed.server.client.list<CertificateRequestObject>(CERTIFICATE_REQUESTS);
  const found = items.filter(({ metadata }) => metadata.name.startsWith(`kubenode-agent-${name}-`));
  return found.length > 0 ? found : undefined;
}

async function denialOf(name: string): Promise<string | undefined> {
  const [request] = (await requests(name)) ?? [];
  return request?.status?.conditions?.find(({ type }) => type === 'Denied')?.reason;
}

/** As Cluster API and its follower would: a Machine for a Node that kubeadm has joined. */
async function follow(name: string): Promise<void> {
  const config = { namespace: 'fleet', name: `of-${name}`, providerID: `test:///${name}` };
  await installed.server.client.create(MACHINES, {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name },
    spec: { infra: { provider: 'clusterapi', config }, host: { type: 'sandbox' }, components: [] },
  });
}

/** What `kubenode machine userdata --kubeadm` puts into the template, with the certificate of this kubelet instead of that of kubeadm. */
async function kubeletBootstrapFile(node: string): Promise<{ file: string; node: string }> {
  const { server } = installed;
  const kubelet = parse(
    readFileSync(
      await server.kubeconfigFor({ user: `system:node:${node}`, groups: ['system:nodes'] }),
      'utf8',
    ),
  ) as { users: { user: Readonly<Record<string, string>> }[] };
  const [cert = '', key = ''] = ['client-certificate-data', 'client-key-data'].map((field) =>
    Buffer.from(kubelet.users[0]?.user[field] ?? '', 'base64').toString('utf8'),
  );
  const folder = tempFolder('kubelet');
  const pem = join(folder, 'kubelet-client-current.pem');
  writeFileSync(pem, `${cert}${key}`, { mode: 0o600 });
  const io = testIo({ env: { KUBECONFIG: server.kubeconfig } });
  const agent = ['--agent-url', 'https://example.com/kubenode-agent', '--agent-sha256', '0'.repeat(64)];
  const code = await runCommandLine(io, ['machine', 'userdata', '--kubeadm', ...agent]);
  expect([code, io.stderr]).toEqual([0, '']);
  const { files } = parse(io.stdout) as { files: { content: string }[] };
  const file = join(folder, 'bootstrap.json');
  writeFileSync(file, (files[0]?.content ?? '').replaceAll(KUBEADM_KUBELET_CERTIFICATE, pem));
  return { file, node: await nodeOfBootstrap(file) };
}

async function bootstrapFile(machine: string): Promise<string> {
  const file = join(tempFolder('bootstrap'), 'bootstrap.json');
  writeFileSync(file, await bootstrapConfigFor(installed, machine), { mode: 0o600 });
  return file;
}

/** In this process. Returns its log and how to stop it. */
function startAgent(
  machine: string,
  directory: string,
  access: AgentAccess,
  aheadMs = 0,
): { log: string[]; stop: () => Promise<void> } {
  const system = createSystemClock();
  const clock = { ...system, now: () => new Date(system.now().getTime() + aheadMs) };
  const signal = new AbortController();
  const log: string[] = [];
  const running = runAgent(
    {
      directory,
      machine,
      access,
      version: '0.0.1',
      port: 0,
      clock,
      log: createJsonLog({ write: (line) => void log.push(line), clock }),
      random: systemRandom,
    },
    signal.signal,
  );
  const stop = async (): Promise<void> => {
    signal.abort();
    await running;
  };
  ends.push(() => endSandbox(directory), stop);
  return { log, stop };
}

async function agentStatus(machine: string): Promise<NonNullable<Machine['status']>['agent']> {
  return (await installed.server.client.get<Machine>(MACHINES, { name: machine })).status?.agent;
}

async function heartbeat(machine: string): Promise<true | undefined> {
  return await installed.server.client.get(LEASES, { name: machine, namespace: NAMESPACE_AGENTS }).then(
    () => true as const,
    () => undefined,
  );
}

describe('an agent that joins with a bootstrap token', () => {
  it('AGT-41 gets its certificate, reports with it, and starts again without the token, which is deleted', async () => {
    // Not made before: the agent makes it.
    const directory = join(tempFolder('agent'), 'host');
    await declare('j1');
    const file = await bootstrapFile('j1');
    const first = startAgent('j1', directory, { own: { bootstrapFile: file } });
    await eventually(() => heartbeat('j1'), 'no heartbeat');
    const pem = readFileSync(join(directory, CURRENT), 'utf8');
    const certificate = new X509Certificate(pem);
    expect(certificate.subject).toContain('CN=kubenode:agent:j1');
    expect(statSync(join(directory, CURRENT)).mode & 0o777).toBe(0o600);
    const reported = await eventually(() => agentStatus('j1'), 'no status');
    expect(reported?.certificateNotAfter).toBe(certificate.validToDate.toISOString().replace('.000Z', 'Z'));

    const tokens = async (): Promise<true | undefined> => {
      const { items } = await installed.server.client.list(SECRETS, { namespace: 'kube-system' });
      return items.some(({ metadata }) => metadata.labels?.['kubenode.dev/machine'] === 'j1')
        ? undefined
        : true;
    };
    await eventually(tokens, 'the token was not deleted');
    await first.stop();
    const token = (JSON.parse(readFileSync(file, 'utf8')) as { users: { user: { token: string } }[] })
      .users[0]?.user.token;
    expect(first.log.join('\n')).not.toContain(token?.split('.')[1]);

    const { startedAt } = reported ?? {};
    startAgent('j1', directory, { own: {} });
    const isNew = async (): Promise<true | undefined> => {
      const status = await agentStatus('j1');
      return status && status.startedAt !== startedAt ? true : undefined;
    };
    await eventually(isNew, 'the agent did not report again');
    expect(readFileSync(join(directory, CURRENT), 'utf8')).toBe(pem);
    const { items } = await installed.server.client.list(CERTIFICATE_REQUESTS);
    expect(items.filter(({ metadata }) => metadata.name.startsWith('kubenode-agent-j1-'))).toHaveLength(1);
  });

  it('MAC-14 renews its certificate as itself, with another key, and reports its new end', async () => {
    const directory = tempFolder('agent');
    await declare('j5');
    const first = startAgent('j5', directory, { own: { bootstrapFile: await bootstrapFile('j5') } });
    await eventually(() => heartbeat('j5'), 'no heartbeat');
    await first.stop();
    const before = readFileSync(join(directory, CURRENT), 'utf8');

    // Five of the seven days have passed for this agent.
    startAgent('j5', directory, { own: {} }, 5 * DAY_MS);
    const renewed = (): Promise<string | undefined> => {
      const now = readFileSync(join(directory, CURRENT), 'utf8');
      return Promise.resolve(now === before ? undefined : now);
    };
    const after = await eventually(renewed, 'the certificate was not renewed');
    const [old, current] = [before, after].map((pem) => new X509Certificate(pem));
    expect(current?.subject).toBe(old?.subject);
    expect(current?.publicKey.equals(old?.publicKey as never)).toBe(false);
    const { items } = await installed.server.client.list<CertificateRequestObject>(CERTIFICATE_REQUESTS);
    const own = items.filter(({ metadata }) => metadata.name.startsWith('kubenode-agent-j5-'));
    const users = own.map(({ spec }) => spec.username?.split(':')[0]);
    expect(users).toEqual(expect.arrayContaining(['kubenode', 'system']));
    expect(own).toHaveLength(2);
    const newEnd = current?.validToDate.toISOString().replace('.000Z', 'Z');
    const reported = async (): Promise<true | undefined> =>
      (await agentStatus('j5'))?.certificateNotAfter === newEnd ? true : undefined;
    await eventually(reported, 'the new end was not reported');
  });

  it('AGT-41 makes one request when it is killed again and again while it joins', async () => {
    const directory = tempFolder('agent');
    await declare('j6');
    const args = ['--machine', 'j6', '--directory', directory, '--bootstrap', await bootstrapFile('j6')];
    let child: ChildProcess | undefined;
    const kill = async (): Promise<void> => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    };
    onTestFinished(kill);
    ends.push(() => endSandbox(directory));
    // The program takes about a second to start, and half a second to join.
    for (const ms of [700, 900, 1000, 1100, 1200, 1300, 1500, 1800]) {
      child = spawn(process.execPath, [MAIN, 'agent', 'run', ...args], { stdio: 'ignore' });
      await pause(ms);
      await kill();
    }
    child = spawn(process.execPath, [MAIN, 'agent', 'run', ...args], { stdio: 'ignore' });
    await eventually(() => heartbeat('j6'), 'no heartbeat');
    const { items } = await installed.server.client.list(CERTIFICATE_REQUESTS);
    expect(items.filter(({ metadata }) => metadata.name.startsWith('kubenode-agent-j6-'))).toHaveLength(1);
    await kill();
  });

  it('AGT-16 gives a component with identity Kubelet the kubeconfig of its node, before it starts', async () => {
    const directory = tempFolder('agent');
    const unit = {
      ...componentSpec('1.0').units[0],
      exec: {
        argv: ['/bin/sh', '-c', 'test -s ${identity.kubeconfig} && exec sleep 1000'],
        env: {},
        user: 'root',
      },
    };
    const spec = componentSpec('1.0', {
      identity: 'Kubelet',
      artifacts: [],
      units: [unit] as never,
      commitAfterSeconds: 1,
    });
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineComponent',
      metadata: { name: 'proxy-1.0' },
      spec,
    };
    await installed.server.client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test' });
    const stored = await installed.server.client.get<MachineComponent>(MACHINE_COMPONENTS, object.metadata);
    await declare('j2', [entryOf(stored.spec)]);
    startAgent('j2', directory, { own: { bootstrapFile: await bootstrapFile('j2') } });
    const committed = async (): Promise<true | undefined> => {
      const { status } = await installed.server.client.get<Machine>(MACHINES, { name: 'j2' });
      return status?.components?.[0]?.state === 'Committed' ? true : undefined;
    };
    await eventually(committed, 'the component was not committed');
    const certificate = new X509Certificate(readFileSync(join(directory, KUBELET, 'current.pem'), 'utf8'));
    expect(certificate.subject.split('\n').toSorted()).toEqual(['CN=system:node:j2', 'O=system:nodes']);
    const kubelet = await connect({ kubeconfig: join(directory, KUBELET, 'kubeconfig') });
    try {
      // NodeRestriction: its own Node only.
      await kubelet.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'j2' } });
      const other = kubelet.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'j3' } });
      await expect(other).rejects.toMatchObject({ code: 'Forbidden' });
    } finally {
      await kubelet.close();
    }
  });

  it('CAP-19 joins with the certificate of its kubelet the Machine that follows its Node, and no other', async () => {
    const { file, node } = await kubeletBootstrapFile('k1');
    expect(node).toBe('k1');
    const directory = tempFolder('agent');
    // It starts before its Machine is there, as it does in an installation.
    const first = startAgent(node, directory, { own: { bootstrapFile: file } });
    const [asked] = await eventually(() => requests('k1'), 'the agent asked for no certificate');
    expect(asked?.spec.username).toBe('system:node:k1');
    expect(asked?.status?.conditions).toBeUndefined();
    await follow('k1');
    await eventually(() => heartbeat('k1'), 'no heartbeat');
    const certificate = new X509Certificate(readFileSync(join(directory, CURRENT), 'utf8'));
    expect(certificate.subject).toContain('CN=kubenode:agent:k1');
    await first.stop();

    await follow('k2');
    const other = startAgent('k2', tempFolder('agent'), { own: { bootstrapFile: file } });
    expect(await eventually(() => denialOf('k2'), 'the request for another Machine was not denied')).toBe(
      'OtherMachine',
    );
    await other.stop();

    await declare('k3');
    const own = await kubeletBootstrapFile('k3');
    startAgent('k3', tempFolder('agent'), { own: { bootstrapFile: own.file } });
    expect(await eventually(() => denialOf('k3'), 'the request for our own Machine was not denied')).toBe(
      'NotFollowed',
    );
  });

  it('says how to join when it has neither a certificate nor a token', async () => {
    const clock = createSystemClock();
    const running = runAgent(
      {
        directory: tempFolder('agent'),
        machine: 'j4',
        access: { own: {} },
        version: '0.0.1',
        port: 0,
        clock,
        log: createJsonLog({ write: () => undefined, clock }),
        random: systemRandom,
      },
      new AbortController().signal,
    );
    await expect(running).rejects.toThrow('kubenode machine token j4');
  });
});
