/** The approver and the bootstrap tokens in `kubenode controllers`, with certificates that the real controller-manager signs. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import {
  AGENT_GROUP,
  ANNOTATION_MACHINE_UID,
  agentUser,
  LABEL_AGENT_BLOCKED,
  LABEL_MACHINE,
  NAMESPACE_AGENTS,
  PRINCIPAL_MACHINE,
  SIGNER_AGENT,
  SIGNER_KUBELET,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestCondition,
  type CertificateRequestObject,
} from '../../../src/kube/auth/certificate-requests.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createCertificateRequest } from '../../../src/os/x509/certificate-request.ts';
import type { RequestedName } from '../../../src/os/x509/request.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { resources } from '../api/resources.ts';
import { example } from '../api/sample-cluster.ts';
import { applyFleetDefault } from '../defender/objects.ts';
import { ACCOUNTS, bootstrapConfigFor, startIdentityControllers } from './identity-controllers.ts';
import { POLICY } from './machine-cluster.ts';

const KUBE_SYSTEM = 'kube-system';

const clock = createSystemClock();
let installed: InstalledServer;
let stopControllers: (() => Promise<void>) | undefined;
let admin: Client;

beforeAll(async () => {
  installed = await startInstalledServer();
  admin = installed.server.client;
  // Without a policy no Machine is deleted.
  await applyFleetDefault(installed, POLICY);
  stopControllers = await startIdentityControllers(installed);
});

afterAll(async () => {
  await stopControllers?.();
  await installed?.stop();
});

let count = 0;
/** A Machine of its own for each test. */
async function newMachine(spec: object = {}): Promise<KubeObject> {
  count += 1;
  return await admin.create(MACHINES, {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name: `m${count}` },
    spec: { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [], ...spec },
  });
}

async function newToken(machine: string): Promise<string> {
  const config = await bootstrapConfigFor(installed, machine);
  return (JSON.parse(config) as { users: { user: { token: string } }[] }).users[0]?.user.token ?? '';
}

/** The host that has this token. */
async function connectWith(token: string): Promise<Client> {
  const { url, caFile } = installed.server;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': caFile } }],
    users: [{ name: 'c', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  };
  const client = await connect({ kubeconfigText: JSON.stringify(config), trustText: true });
  clients.push(client);
  return client;
}

async function hostWith(token: string): Promise<Client> {
  const client = await connectWith(token);
  await eventually(() => knowsToken(client), 'the API server does not know the token');
  return client;
}

/** The API server reads tokens from a watch: one that was just created is unknown for a moment, and an agent asks again. */
async function knowsToken(client: Client): Promise<true | undefined> {
  try {
    await client.raw('/version');
    return true;
  } catch (error) {
    if (!isKubeError(error, 'Unauthorized')) throw error;
    return undefined;
  }
}
const clients: Client[] = [];
afterAll(async () => {
  for (const client of clients) await client.close();
});

interface Asked {
  readonly name?: RequestedName;
  readonly pem?: string;
  readonly signer?: string;
  readonly usages?: readonly string[];
  readonly seconds?: number | undefined;
  readonly uid?: string;
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function agentName(machine: string): RequestedName {
  return { commonName: agentUser(machine), organization: AGENT_GROUP };
}

function kubeletName(machine: string): RequestedName {
  return { commonName: `system:node:${machine}`, organization: 'system:nodes' };
}

let requests = 0;
async function ask(client: Client, asked: Asked): Promise<string> {
  const {
    name = agentName('m1'),
    signer = SIGNER_AGENT,
    usages = ['client auth', 'digital signature'],
  } = asked;
  const { uid, pem = createCertificateRequest(name, newKey()) } = asked;
  requests += 1;
  const annotations = uid === undefined ? {} : { [ANNOTATION_MACHINE_UID]: uid };
  const metadata = { name: `r${requests}`, annotations };
  const seconds = 'seconds' in asked ? {} : { expirationSeconds: 3600 };
  const longer = asked.seconds === undefined ? seconds : { expirationSeconds: asked.seconds };
  const spec = { request: Buffer.from(pem).toString('base64'), signerName: signer, usages, ...longer };
  const object = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata, spec };
  await client.create(CERTIFICATE_REQUESTS, object);
  return metadata.name;
}

async function decisionOf(name: string): Promise<CertificateRequestCondition> {
  const decided = async (): Promise<CertificateRequestCondition | undefined> =>
    (await admin.get<CertificateRequestObject>(CERTIFICATE_REQUESTS, { name })).status?.conditions?.[0];
  return await eventually(decided, `request ${name} was not decided`);
}

async function reasonOf(name: string): Promise<string> {
  const { type, reason } = await decisionOf(name);
  return `${type} ${reason}`;
}

/** As the host itself reads it. */
async function certificateOf(client: Client, name: string): Promise<X509Certificate> {
  const issued = async (): Promise<string | undefined> =>
    (await client.get<CertificateRequestObject>(CERTIFICATE_REQUESTS, { name })).status?.certificate;
  return new X509Certificate(
    Buffer.from(await eventually(issued, `request ${name} got no certificate`), 'base64'),
  );
}

async function agentOf(machine: string): Promise<Client> {
  return await installed.as(agentUser(machine), [AGENT_GROUP]);
}

/** The agent writes its Lease, with its own certificate. */
async function beat(machine: string): Promise<void> {
  // The approval has whole seconds.
  const renewTime = new Date(clock.now().getTime() + 1000).toISOString().replace('Z', '000Z');
  const metadata = { name: machine, namespace: NAMESPACE_AGENTS };
  const spec = { holderIdentity: machine, leaseDurationSeconds: 40, renewTime };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  await (await agentOf(machine)).apply(resources.Lease, lease, {
    fieldManager: 'kubenode-agent',
    force: true,
  });
}

/** Once the server, which remembers tokens for some seconds, accepts its token no more. */
async function refusalOf(host: Client): Promise<string> {
  const refused = async (): Promise<string | undefined> => {
    const reading = host.get(CERTIFICATE_REQUESTS, { name: 'none' });
    const code = await reading.then(
      () => 'Found',
      (error: { code?: string }) => error.code,
    );
    return code === 'NotFound' ? undefined : code;
  };
  return await eventually(refused, 'the token is still accepted');
}

async function tokenExists(token: string): Promise<boolean> {
  const name = `bootstrap-token-${token.split('.')[0]}`;
  const { items } = await admin.list(SECRETS, { namespace: KUBE_SYSTEM });
  return items.some(({ metadata }) => metadata.name === name);
}

describe('a host with the token of its Machine', () => {
  it('gets one certificate, the token is deleted when the agent uses it, and the server accepts it no more', async () => {
    const { metadata } = await newMachine();
    const token = await newToken(metadata.name);
    const host = await hostWith(token);
    const name = await ask(host, { name: agentName(metadata.name) });
    const certificate = await certificateOf(host, name);
    expect(certificate.subject.split('\n').toSorted()).toEqual([
      `CN=kubenode:agent:${metadata.name}`,
      'O=kubenode:agents',
    ]);
    expect(certificate.validToDate.getTime() - certificate.validFromDate.getTime()).toBeLessThan(
      2 * 3600_000,
    );
    expect(await tokenExists(token)).toBe(true);

    await beat(metadata.name);
    await eventually(async () => !(await tokenExists(token)) || undefined, 'the token was not deleted');
    expect(await refusalOf(host)).toBe('Unauthorized');
  });

  it('MAC-14 is denied a second key by the same token, and the token is deleted', async () => {
    const { metadata } = await newMachine();
    const token = await newToken(metadata.name);
    const host = await hostWith(token);
    expect(await reasonOf(await ask(host, { name: agentName(metadata.name) }))).toBe(
      'Approved KubenodeApproved',
    );
    expect(await reasonOf(await ask(host, { name: agentName(metadata.name) }))).toBe('Denied TokenUsed');
    await eventually(async () => !(await tokenExists(token)) || undefined, 'the token was not deleted');
  });

  it('MAC-14 is denied with a token that a newer one replaced', async () => {
    const { metadata } = await newMachine();
    const [older, newer] = [await newToken(metadata.name), await newToken(metadata.name)];
    const denied = await ask(await hostWith(older), { name: agentName(metadata.name) });
    expect(await reasonOf(denied)).toBe('Denied TokenNotCurrent');
    const approved = await ask(await hostWith(newer), { name: agentName(metadata.name) });
    expect(await reasonOf(approved)).toBe('Approved KubenodeApproved');
  });

  it('MAC-14 is denied a second registration, until a person raises agentEpoch', async () => {
    const { metadata } = await newMachine();
    const { name } = metadata;
    expect(await reasonOf(await ask(await hostWith(await newToken(name)), { name: agentName(name) }))).toBe(
      'Approved KubenodeApproved',
    );
    await beat(name);
    const second = await ask(await hostWith(await newToken(name)), { name: agentName(name) });
    expect(await reasonOf(second)).toBe('Denied AlreadyRegistered');
    await admin.patch(MACHINES, { name }, { type: 'merge', body: { spec: { agentEpoch: 1 } } });
    const third = await ask(await hostWith(await newToken(name)), { name: agentName(name) });
    expect(await reasonOf(third)).toBe('Approved KubenodeApproved');
  });

  it.each<[string, string, (machine: string) => Asked]>([
    ["another machine's name", 'MachineNotFound', () => ({ name: agentName('no-such-machine') })],
    [
      'an organization more',
      'WrongName',
      (machine) => ({ pem: openssl(`/O=kubenode:agents/O=system:nodes/CN=kubenode:agent:${machine}`) }),
    ],
    [
      'the group of nodes',
      'WrongName',
      (machine) => ({ name: { ...agentName(machine), organization: 'system:nodes' } }),
    ],
    [
      'the name of a person',
      'WrongName',
      () => ({ name: { commonName: 'admin', organization: 'system:nodes' } }),
    ],
    [
      'an alternative name',
      'ExtensionsRequested',
      (machine) => ({
        pem: openssl(
          `/O=kubenode:agents/CN=kubenode:agent:${machine}`,
          '-addext',
          'subjectAltName=DNS:kubernetes',
        ),
      }),
    ],
    [
      'the usage of a server',
      'WrongUsages',
      (machine) => ({ name: agentName(machine), usages: ['client auth', 'server auth'] }),
    ],
    [
      'the lifetime that the signer chooses',
      'WrongLifetime',
      (machine) => ({ name: agentName(machine), seconds: undefined }),
    ],
    ['more than a week', 'WrongLifetime', (machine) => ({ name: agentName(machine), seconds: 8 * 86_400 })],
    [
      'the certificate of a kubelet',
      'RequesterNotAllowed',
      (machine) => ({ name: kubeletName(machine), signer: SIGNER_KUBELET }),
    ],
  ])('MAC-14 gets a denial from the approver for %s', async (_, reason, asked) => {
    const { metadata } = await newMachine();
    const host = await hostWith(await newToken(metadata.name));
    expect(await reasonOf(await ask(host, asked(metadata.name)))).toBe(`Denied ${reason}`);
  });

  it('MAC-14 is denied the name of another Machine, which exists and has a token of its own', async () => {
    const [mine, other] = [await newMachine(), await newMachine()];
    await newToken(other.metadata.name);
    const host = await hostWith(await newToken(mine.metadata.name));
    expect(await reasonOf(await ask(host, { name: agentName(other.metadata.name) }))).toBe('Denied WrongUid');
  });

  it('MAC-14 is denied for a Machine that was deleted and created again with the same name', async () => {
    const { metadata } = await newMachine();
    const { name, uid = '' } = metadata;
    const host = await hostWith(await newToken(name));
    await admin.patch(
      MACHINES,
      { name },
      { type: 'merge', body: { metadata: { annotations: { 'kubenode.dev/confirm-delete': uid } } } },
    );
    await admin.delete(MACHINES, { name }, { uid });
    const exists = async (): Promise<boolean> =>
      (await admin.list(MACHINES)).items.some((each) => each.metadata.name === name);
    await eventually(async () => !(await exists()) || undefined, 'the Machine was not deleted');
    expect(await reasonOf(await ask(host, { name: agentName(name) }))).toBe('Denied MachineNotFound');
    await admin.create(MACHINES, {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Machine',
      metadata: { name },
      spec: { infra: { provider: 'local' }, components: [] },
    });
    expect(await reasonOf(await ask(host, { name: agentName(name) }))).toBe('Denied WrongUid');
  });

  it('MAC-14 is refused by the server with a token that expired', async () => {
    const { metadata } = await newMachine();
    const token = await newToken(metadata.name);
    const expiration = Buffer.from('2020-01-01T00:00:00Z').toString('base64');
    await admin.patch(
      SECRETS,
      { name: `bootstrap-token-${token.split('.')[0]}`, namespace: KUBE_SYSTEM },
      { type: 'merge', body: { data: { expiration } } },
    );
    expect(await refusalOf(await connectWith(token))).toBe('Unauthorized');
  });
});

describe('an agent with its certificate', () => {
  it('renews it with another key', async () => {
    const { metadata } = await newMachine();
    const agent = await agentOf(metadata.name);
    await beat(metadata.name);
    const uid = metadata.uid ?? '';
    const name = await ask(agent, { name: agentName(metadata.name), uid });
    expect(await reasonOf(name)).toBe('Approved KubenodeApproved');
    expect((await certificateOf(agent, name)).subject).toContain(agentUser(metadata.name));
  });

  it('gets the certificate of its kubelet only with a component that has this identity', async () => {
    const component = example('MachineComponent is a service with files and probes');
    const { spec } = component as unknown as { spec: Record<string, unknown> };
    const ref = 'kubelet-1.31.4';
    await admin.create(resources.MachineComponent, {
      ...component,
      metadata: { name: ref },
      spec: { ...spec, component: 'kubelet', version: '1.31.4', identity: 'Kubelet', dependsOn: [] },
    });
    const digest = `sha256:${'0'.repeat(64)}`;
    const [without, withIt] = [
      await newMachine(),
      await newMachine({ components: [{ name: 'kubelet', componentRef: ref, digest }] }),
    ];
    const expected: readonly [KubeObject, string][] = [
      [without, 'Denied NoKubeletIdentity'],
      [withIt, 'Approved KubenodeApproved'],
    ];
    for (const [{ metadata }, decision] of expected) {
      const asked = { name: kubeletName(metadata.name), signer: SIGNER_KUBELET, uid: metadata.uid ?? '' };
      expect(await reasonOf(await ask(await agentOf(metadata.name), asked))).toBe(decision);
    }
  });

  it.each<[string, string, (uid: string, other: string, otherUid: string) => Asked]>([
    ['the name of another agent', 'OtherMachine', (_, other, uid) => ({ name: agentName(other), uid })],
    [
      "the name of another machine's kubelet",
      'OtherMachine',
      (_, other, uid) => ({ name: kubeletName(other), signer: SIGNER_KUBELET, uid }),
    ],
    ['no UID', 'WrongUid', () => ({})],
    ['the UID of an older Machine', 'WrongUid', () => ({ uid: '0a1b2c3d-0000-4000-8000-000000000017' })],
    ['a certificate of a year', 'WrongLifetime', (uid) => ({ uid, seconds: 365 * 86_400 })],
    ['one usage too few', 'WrongUsages', (uid) => ({ uid, usages: ['client auth'] })],
  ])('MAC-14 gets a denial as an agent for %s', async (_, reason, asked) => {
    const [own, other] = [await newMachine(), await newMachine()];
    const { name, uid = '' } = own.metadata;
    const request = { name: agentName(name), ...asked(uid, other.metadata.name, other.metadata.uid ?? '') };
    expect(await reasonOf(await ask(await agentOf(name), request))).toBe(`Denied ${reason}`);
  });

  it('MAC-14 gets no renewal while it is blocked', async () => {
    const { metadata } = await newMachine();
    const labels = { [LABEL_AGENT_BLOCKED]: 'CertificateLost' };
    await admin.patch(MACHINES, metadata, { type: 'merge', body: { metadata: { labels } } });
    const asked = { name: agentName(metadata.name), uid: metadata.uid ?? '' };
    const name = await ask(await agentOf(metadata.name), asked);
    expect(await decisionOf(name)).toMatchObject({ type: 'Denied', reason: 'AgentBlocked' });
  });
});

it('kubenode machine token names a Machine that does not exist', async () => {
  const io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig } });
  expect(await runCommandLine(io, ['machine', 'token', 'nope'])).toBe(65);
  expect(io.stderr).toContain('Machine nope does not exist in this cluster');
  const { items } = await admin.list(SECRETS, {
    namespace: KUBE_SYSTEM,
    labelSelector: `${LABEL_MACHINE}=nope`,
  });
  expect([io.stdout, items]).toEqual(['', []]);
});

describe('requests of others', () => {
  it('MAC-14 denies an administrator a certificate in the name of an agent, and leaves a foreign name alone', async () => {
    const { metadata } = await newMachine();
    const foreign = await ask(admin, { name: { commonName: 'anna', organization: 'team' } });
    const forged = await ask(admin, { name: agentName(metadata.name), uid: metadata.uid ?? '' });
    expect(await reasonOf(forged)).toBe('Denied RequesterNotAllowed');
    // It came first, and one is judged after the other.
    const left = await admin.get<CertificateRequestObject>(CERTIFICATE_REQUESTS, { name: foreign });
    expect(left.status?.conditions ?? []).toEqual([]);
  });

  it('MAC-14 lets no other account approve a request', async () => {
    const name = await ask(admin, { name: { commonName: 'anna', organization: 'team' } });
    const request = await admin.get<CertificateRequestObject>(CERTIFICATE_REQUESTS, { name });
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Mine', message: '' }];
    const machine = await installed.as(serviceAccountUser(PRINCIPAL_MACHINE), ACCOUNTS);
    for (const client of [machine, await agentOf('m1')]) {
      const approval = client.replace(
        CERTIFICATE_REQUESTS,
        { ...request, status: { conditions } },
        { subresource: 'approval' },
      );
      await expect(approval).rejects.toMatchObject({ code: 'Forbidden' });
    }
  });
});

/** A request of another program, for what ours never asks. */
function openssl(subject: string, ...more: readonly string[]): string {
  const keyFile = `${tempFolder('request')}/key.pem`;
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  const args = ['req', '-new', ...key, '-config', '/dev/null', '-subj', subject, ...more];
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
