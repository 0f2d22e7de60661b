import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponent } from '../../../src/api/generated/types.ts';
import type { BootstrapTokenRecord } from '../../../src/api/secrets/bootstrap-token.ts';
import { formatTokenRecord } from '../../../src/api/secrets/bootstrap-token.ts';
import type { AgentRequest, ApproverInput } from '../../../src/controllers/approver/observe.ts';
import { planApproval } from '../../../src/controllers/approver/plan.ts';
import {
  createCertificateRequest,
  parseCertificateRequest,
} from '../../../src/os/x509/certificate-request.ts';
import type { ParsedRequest } from '../../../src/os/x509/request.ts';
import { NOW } from '../../support/virtual-clock.ts';

const UID = '0a1b2c3d-0000-4000-8000-000000000017';
const AGENT = 'kubernetes.io/kube-apiserver-client';
const KUBELET = 'kubernetes.io/kube-apiserver-client-kubelet';
const AGENTS = 'kubenode:agents';
const MACHINE_ACCOUNT = 'system:serviceaccount:kubenode-system:kubenode-machine';
const DAY = 86_400;

const content = parsed('kubenode:agent:n17', AGENTS);
const otherKey = parsed('kubenode:agent:n17', AGENTS);

function parsed(commonName: string, organization: string): ParsedRequest {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const found = parseCertificateRequest(createCertificateRequest({ commonName, organization }, privateKey));
  if (!found) throw new Error('the request of the test cannot be parsed');
  return found;
}

const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

type Change = Partial<AgentRequest>;

/** The first certificate of the agent of n17, requested with its token. */
function first(change: Change = {}): AgentRequest {
  return {
    name: 'r1',
    signer: AGENT,
    username: 'system:bootstrap:abc123',
    groups: groupsFor(UID),
    usages: ['client auth', 'digital signature'],
    expirationSeconds: 7 * DAY,
    createdAt: at(-120),
    machineUid: undefined,
    state: 'Pending',
    approvedAt: undefined,
    content,
    ...change,
  };
}

/** Of the agent of n17, which has a certificate. */
function renewal(change: Change = {}): AgentRequest {
  return first({
    username: 'kubenode:agent:n17',
    groups: [AGENTS, 'system:authenticated'],
    machineUid: UID,
    ...change,
  });
}

function kubelet(change: Change = {}): AgentRequest {
  return renewal({ signer: KUBELET, content: parsed('system:node:n17', 'system:nodes'), ...change });
}

/** Of the machine controller, for a host that it imports. */
function imported(change: Change = {}): AgentRequest {
  return first({ username: MACHINE_ACCOUNT, groups: ['system:serviceaccounts'], machineUid: UID, ...change });
}

/** Of the kubelet of a node that another system made, for the agent of its host. */
function fromNode(change: Change = {}): AgentRequest {
  return first({ username: 'system:node:n17', groups: ['system:nodes', 'system:authenticated'], ...change });
}

interface Known {
  /** The default is that of another system, which creates the machine. */
  readonly provider?: string;
  readonly machine?: Partial<Machine['metadata']> | null;
  readonly token?: Partial<BootstrapTokenRecord> | string | null;
  readonly conditions?: readonly object[];
  readonly identity?: 'None' | 'Kubelet' | 'NotFound';
  readonly state?: 'Present' | 'Absent';
  readonly heartbeatAgeMs?: number;
  /** spec.agentEpoch, and that of the last certificate over SSH. */
  readonly epoch?: number;
  readonly certified?: number;
  readonly approved?: readonly AgentRequest[];
}

const RECORD: BootstrapTokenRecord = {
  id: 'abc123',
  secretUid: 'secret-1',
  expiresAt: at(600).toISOString(),
  epoch: 0,
  replacesAgent: false,
};

function tokenAnnotations(token: Known['token'] = {}): Readonly<Record<string, string>> {
  if (token === null) return {};
  const record = typeof token === 'string' ? token : formatTokenRecord({ ...RECORD, ...token });
  return { 'kubenode.dev/bootstrap-token': record };
}

function snapshot(known: Known = {}): ApproverInput {
  const { machine, token, conditions = [], identity = 'None', state = 'Present', approved = [] } = known;
  const found = {
    metadata: { name: 'n17', uid: UID, annotations: tokenAnnotations(token), ...machine },
    spec: {
      infra: { provider: known.provider ?? 'clusterapi' },
      agentEpoch: known.epoch ?? 0,
      components: [{ name: 'kubelet', componentRef: 'kubelet-1.31.4', state }],
    },
    status: { conditions, import: { agentEpoch: known.certified } },
  } as unknown as Machine;
  const component = { spec: { identity } } as unknown as MachineComponent;
  return {
    now: NOW,
    machine: (name) => (machine !== null && name === 'n17' ? found : undefined),
    component: (ref) => (identity !== 'NotFound' && ref === 'kubelet-1.31.4' ? component : undefined),
    heartbeatAgeMs: () => known.heartbeatAgeMs,
    approvedBy: (username) => approved.filter((each) => each.username === username),
    approvedFor: (name) =>
      approved.filter(({ content: asked }) => asked?.commonNames[0] === `kubenode:agent:${name}`),
  };
}

const REGISTERING = [
  { type: 'HostTrusted', status: 'True' },
  { type: 'Progressing', status: 'True', reason: 'Registering' },
];
const NO_EXTENSIONS = 'deny ExtensionsRequested: the request asks for extensions, and none are allowed';
const hint = 'Raise spec.agentEpoch of the Machine if that agent is lost';
const alive = `AlreadyRegistered: the agent of Machine n17 is alive. ${hint}`;
const groupsFor = (uid: string): readonly string[] => [
  'system:bootstrappers',
  'system:bootstrappers:kubenode',
  `system:bootstrappers:kubenode:${uid}`,
];
const importedFor = (machineUid: string): Change => ({
  username: MACHINE_ACCOUNT,
  groups: ['system:serviceaccounts'],
  machineUid,
});
const approvedBefore = (change: Change): AgentRequest =>
  first({ name: 'r0', state: 'Approved', approvedAt: at(-60), content: otherKey, ...change });

type Row = [it: string, request: AgentRequest, expected: string, known?: Known];

const approves: Row[] = [
  [
    'the first certificate with the token of the Machine',
    first(),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
  ],
  ['a renewal', renewal(), 'approve: renewal by the agent of Machine n17'],
  [
    'a renewal while the agent is alive',
    renewal(),
    'approve: renewal by the agent of Machine n17',
    { heartbeatAgeMs: 0 },
  ],
  [
    'a renewal of an agent that never had a token',
    renewal(),
    'approve: renewal by the agent of Machine n17',
    { token: null },
  ],
  [
    "the kubelet's certificate, for a component with identity",
    kubelet(),
    'approve: requested by the agent of Machine n17 for its kubelet',
    { identity: 'Kubelet' },
  ],
  [
    'the first certificate of an import that is registering',
    imported(),
    'approve: first certificate of the agent of Machine n17, requested by its import',
    { conditions: REGISTERING },
  ],
  [
    'the first certificate with that of the kubelet, for a Machine that follows its node',
    fromNode(),
    'approve: first certificate of the agent of Machine n17, requested with the certificate of its kubelet',
    { token: null },
  ],
  [
    'another first certificate over SSH, beside an agent that a person gave up',
    imported(),
    'approve: first certificate of the agent of Machine n17, requested by its import',
    { conditions: REGISTERING, heartbeatAgeMs: 0, epoch: 1 },
  ],
  [
    'an RSA key with key encipherment',
    first({
      usages: ['key encipherment', 'digital signature', 'client auth'],
      content: { ...content, key: { ...content.key, type: 'rsa', bits: 2048 } },
    }),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
  ],
  [
    'the same key once more: the agent ended before it read its certificate',
    first(),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
    { approved: [approvedBefore({ content })] },
  ],
  [
    'another first certificate after the agent was silent for 45 seconds',
    first(),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
    { heartbeatAgeMs: 45_000 },
  ],
  [
    'another first certificate beside an agent that a person gave up',
    first(),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
    { heartbeatAgeMs: 0, token: { replacesAgent: true, epoch: 1 } },
  ],
  [
    'another first certificate after the last renewal of an agent that is silent now',
    first(),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
    { approved: [approvedBefore({ username: 'kubenode:agent:n17' })], heartbeatAgeMs: 45_000 },
  ],
  [
    'a first certificate while one of an hour ago was never used',
    first(),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
    { approved: [approvedBefore({ username: 'system:bootstrap:older1', approvedAt: at(-900) })] },
  ],
  [
    'a first certificate of a Machine whose name another Machine had a minute ago',
    first(),
    'approve: first certificate of the agent of Machine n17, requested with its bootstrap token',
    { approved: [approvedBefore({ username: 'system:bootstrap:older1', groups: groupsFor('uid-0') })] },
  ],
  [
    'the import of a Machine whose name another Machine had a minute ago',
    imported(),
    'approve: first certificate of the agent of Machine n17, requested by its import',
    {
      conditions: REGISTERING,
      approved: [approvedBefore(importedFor('uid-0'))],
    },
  ],
];

const deniesContent: Row[] = [
  [
    'a request that cannot be parsed',
    first({ content: undefined }),
    'deny WrongName: the subject names no machine',
  ],
  [
    'a signature of another key',
    first({ content: { ...content, signatureValid: false } }),
    'deny BadSignature: the request is not signed with the private key of its public key',
  ],
  ['alternative names', first({ content: { ...content, hasAttributes: true } }), NO_EXTENSIONS],
  [
    'alternative names in a renewal',
    renewal({ content: { ...content, hasAttributes: true } }),
    NO_EXTENSIONS,
  ],
  [
    'a short RSA key',
    first({ content: { ...content, key: { ...content.key, type: 'rsa', bits: 1024 } } }),
    'deny WeakKey: expected a P-256, P-384, P-521 or RSA key of at least 2048 bits',
  ],
  [
    'an unknown curve',
    first({ content: { ...content, key: { ...content.key, curve: 'secp256k1' } } }),
    'deny WeakKey: expected a P-256, P-384, P-521 or RSA key of at least 2048 bits',
  ],
  [
    'the usage of a server',
    first({ usages: ['client auth', 'digital signature', 'server auth'] }),
    'deny WrongUsages: expected the usages client auth, digital signature, got client auth, digital signature, server auth',
  ],
  [
    'a usage too few',
    first({ usages: ['client auth'] }),
    'deny WrongUsages: expected the usages client auth, digital signature, got client auth',
  ],
  [
    'key encipherment of an elliptic key',
    renewal({ usages: ['client auth', 'key encipherment'] }),
    'deny WrongUsages: expected the usages client auth, digital signature, got client auth, key encipherment',
  ],
  [
    'the lifetime that the signer chooses: a year',
    first({ expirationSeconds: undefined }),
    'deny WrongLifetime: expected expirationSeconds from 600 to 604800, got none',
  ],
  [
    'more than a week',
    renewal({ expirationSeconds: 7 * DAY + 1 }),
    'deny WrongLifetime: expected expirationSeconds from 600 to 604800, got 604801',
  ],
  [
    'another organization beside ours',
    first({ content: { ...content, subject: parsed('kubenode:agent:n17', 'kubenode:agents2').subject } }),
    'deny WrongName: the subject is not exactly O=kubenode:agents, CN=kubenode:agent:n17',
  ],
  [
    'a second name behind ours',
    first({ content: { ...content, subject: Buffer.concat([content.subject, content.subject]) } }),
    'deny WrongName: the subject is not exactly O=kubenode:agents, CN=kubenode:agent:n17',
  ],
  [
    'the group of administrators',
    first({ content: parsed('kubenode:agent:n17', 'system:masters') }),
    'deny WrongName: the subject is not exactly O=kubenode:agents, CN=kubenode:agent:n17',
  ],
  [
    'the name of an administrator, with a token',
    first({ content: parsed('admin', 'system:masters') }),
    'deny WrongName: the subject names no machine',
  ],
  [
    'a name without a machine',
    first({ content: parsed('kubenode:agent:', AGENTS) }),
    'deny WrongName: the subject names no machine',
  ],
];

const deniesRequester: Row[] = [
  [
    'a kubelet for the agent of another node',
    fromNode({ username: 'system:node:n18' }),
    'deny OtherMachine: system:node:n18 may not request a certificate for another machine, n17',
  ],
  [
    'a user with the name of a kubelet that is in no group of kubelets',
    fromNode({ groups: ['system:authenticated'] }),
    'deny RequesterNotAllowed: system:node:n17 may not request a certificate for n17',
  ],
  [
    'a kubelet for a Machine that kubenode created or imported',
    fromNode(),
    'deny NotFollowed: Machine n17 has provider ssh: only a Machine that follows another system joins with the certificate of its kubelet. Make a token: kubenode machine token n17',
    { provider: 'ssh' },
  ],
  [
    'a kubelet beside an agent that is alive',
    fromNode(),
    'deny AlreadyRegistered: the agent of Machine n17 is alive. It is replaced when it has been silent for a while, or at once with a token: kubenode machine token',
    { heartbeatAgeMs: 0 },
  ],
  [
    'a kubelet after one that stated another UID, which no kubelet knows',
    fromNode(),
    'deny AlreadyRegistered: request r0 got the first certificate of n17. It is replaced when it has been silent for a while, or at once with a token: kubenode machine token',
    {
      approved: [
        approvedBefore({ username: 'system:node:n17', groups: ['system:nodes'], machineUid: 'uid-0' }),
      ],
    },
  ],
  [
    'a kubelet when its Machine was not created in ten minutes',
    fromNode({ createdAt: at(-600) }),
    'deny MachineNotFound: there is no Machine n17',
    { machine: null },
  ],
  [
    'an agent for another machine',
    renewal({ username: 'kubenode:agent:n18' }),
    'deny OtherMachine: kubenode:agent:n18 may not request a certificate for another machine, n17',
  ],
  [
    'an agent for the kubelet of another machine',
    kubelet({ username: 'kubenode:agent:n18' }),
    'deny OtherMachine: kubenode:agent:n18 may not request a certificate for another machine, n17',
    { identity: 'Kubelet' },
  ],
  [
    "an agent's name with the signer of kubelets",
    kubelet({ content }),
    'deny WrongName: the subject names no machine',
    { identity: 'Kubelet' },
  ],
  [
    "a node's name with the signer of agents",
    renewal({ content: parsed('system:node:n17', 'system:nodes') }),
    'deny WrongName: the subject names no machine',
    { identity: 'Kubelet' },
  ],
  [
    'a user that is called like an agent, without the group',
    renewal({ groups: ['system:authenticated'] }),
    'deny RequesterNotAllowed: kubenode:agent:n17 may not request a certificate for n17',
  ],
  [
    'a person, for the name of an agent',
    renewal({ username: 'anna', groups: ['system:masters'] }),
    'deny RequesterNotAllowed: anna may not request a certificate for n17',
  ],
  [
    'a person, for any name in the group of agents',
    renewal({ username: 'anna', groups: [], content: parsed('anna', AGENTS) }),
    'deny WrongName: the subject names no machine',
  ],
  [
    'a token, for a kubelet',
    first({ signer: KUBELET, content: parsed('system:node:n17', 'system:nodes') }),
    'deny RequesterNotAllowed: system:bootstrap:abc123 may not request a certificate for n17',
    { identity: 'Kubelet' },
  ],
  [
    'the machine controller, for a kubelet',
    imported({ signer: KUBELET, content: parsed('system:node:n17', 'system:nodes') }),
    `deny RequesterNotAllowed: ${MACHINE_ACCOUNT} may not request a certificate for n17`,
    { identity: 'Kubelet', conditions: REGISTERING },
  ],
  [
    'an import in another step',
    imported({ createdAt: at(-60) }),
    'deny NotRegistering: Machine n17 is not in step Registering of an import',
    { conditions: [REGISTERING[0] ?? {}, { type: 'Progressing', status: 'True', reason: 'Joining' }] },
  ],
  [
    'the machine controller, for a machine that it does not import',
    imported({ createdAt: at(-60) }),
    'deny NotRegistering: Machine n17 is not in step Registering of an import',
    { conditions: REGISTERING.slice(1) },
  ],
];

const deniesMachine: Row[] = [
  [
    'another first certificate over SSH beside an agent that is alive',
    imported({ createdAt: at(-60) }),
    `deny ${alive}`,
    { conditions: REGISTERING, heartbeatAgeMs: 0, epoch: 1, certified: 1 },
  ],
  [
    'a Machine that does not exist',
    first(),
    'deny MachineNotFound: there is no Machine n17',
    { machine: null },
  ],
  [
    'a renewal of a deleted Machine',
    renewal(),
    'deny MachineNotFound: there is no Machine n17',
    { machine: null },
  ],
  [
    'a Machine that is being deleted',
    first(),
    'deny MachineDeleting: Machine n17 is being deleted',
    { machine: { deletionTimestamp: '2030-01-01T00:00:00Z' } },
  ],
  [
    'a token of another Machine',
    first({ groups: ['system:bootstrappers:kubenode', 'system:bootstrappers:kubenode:uid-18'] }),
    `deny WrongUid: expected the UID ${UID} of Machine n17, got uid-18`,
  ],
  [
    'a token of two Machines',
    first({ groups: [`system:bootstrappers:kubenode:${UID}`, 'system:bootstrappers:kubenode:uid-18'] }),
    `deny WrongUid: expected the UID ${UID} of Machine n17, got ${UID}, uid-18`,
  ],
  [
    'a token of no Machine',
    first({ groups: ['system:bootstrappers:kubenode'], machineUid: UID }),
    `deny WrongUid: expected the UID ${UID} of Machine n17, got none`,
  ],
  [
    'a renewal for a Machine that was created again',
    renewal({ machineUid: 'uid-of-the-old-one' }),
    `deny WrongUid: expected the UID ${UID} of Machine n17, got uid-of-the-old-one`,
  ],
  [
    'a renewal without a UID',
    renewal({ machineUid: undefined }),
    `deny WrongUid: expected the UID ${UID} of Machine n17, got none`,
  ],
  [
    'a blocked agent',
    renewal(),
    'deny AgentBlocked: the agent of Machine n17 is blocked by its label kubenode.dev/agent-blocked: CertificateLost',
    { machine: { labels: { 'kubenode.dev/agent-blocked': 'CertificateLost' } } },
  ],
  [
    'a component without identity',
    kubelet(),
    'deny NoKubeletIdentity: no component of Machine n17 has identity: Kubelet',
  ],
  [
    'a component that is to be removed',
    kubelet(),
    'deny NoKubeletIdentity: no component of Machine n17 has identity: Kubelet',
    { identity: 'Kubelet', state: 'Absent' },
  ],
];

const deniesToken: Row[] = [
  [
    'a token that is not the newest one',
    first(),
    'deny TokenNotCurrent: system:bootstrap:abc123 is not the newest bootstrap token of Machine n17',
    { token: { id: 'newer1' } },
  ],
  [
    'a token without a record',
    first(),
    'deny TokenNotCurrent: system:bootstrap:abc123 is not the newest bootstrap token of Machine n17',
    { token: null },
  ],
  [
    'a token with a damaged record',
    first(),
    'deny TokenNotCurrent: system:bootstrap:abc123 is not the newest bootstrap token of Machine n17',
    { token: '{"id":"abc123"}' },
  ],
  [
    'a token that expired',
    first(),
    `deny TokenExpired: the bootstrap token expired at ${NOW.toISOString()}`,
    { token: { expiresAt: NOW.toISOString() } },
  ],
  [
    'a token that another key used before',
    first(),
    'deny TokenUsed: the bootstrap token was used for another key, by request r0',
    { approved: [approvedBefore({})], token: { replacesAgent: true } },
  ],
  [
    'a second key by another token, while the first certificate is on the way',
    first(),
    `deny AlreadyRegistered: request r0 got the first certificate of n17. ${hint}`,
    { approved: [approvedBefore({ username: 'system:bootstrap:older1' })] },
  ],
  [
    'a second key by an import, while the first certificate is on the way',
    imported(),
    `deny AlreadyRegistered: request r0 got the first certificate of n17. ${hint}`,
    { conditions: REGISTERING, approved: [approvedBefore(importedFor(UID))] },
  ],
  [
    'a second key while the first certificate is on the way, whatever UID its token request names beside its group',
    first(),
    `deny AlreadyRegistered: request r0 got the first certificate of n17. ${hint}`,
    { approved: [approvedBefore({ username: 'system:bootstrap:older1', machineUid: 'uid-0' })] },
  ],
  [
    'a second key after a person approved a first certificate that names no UID',
    first(),
    `deny AlreadyRegistered: request r0 got the first certificate of n17. ${hint}`,
    { approved: [approvedBefore({ username: 'person', groups: ['system:authenticated'] })] },
  ],
  ['a second registration of an agent that is alive', first(), `deny ${alive}`, { heartbeatAgeMs: 44_999 }],
  [
    'an import of a machine whose agent is alive',
    imported(),
    `deny ${alive}`,
    { heartbeatAgeMs: 0, conditions: REGISTERING },
  ],
];

const young = { createdAt: at(-4) };
const waits: Row[] = [
  [
    'the Machine of a node that has joined before its Machine was created',
    fromNode({ createdAt: at(-590) }),
    'wait 10 s: there is no Machine n17',
    { machine: null },
  ],
  [
    'an import whose step may be late in the view',
    imported({ createdAt: at(-4) }),
    'wait 6 s: Machine n17 is not in step Registering of an import',
    { conditions: REGISTERING.slice(1) },
  ],
  [
    'a Machine that our view may not have yet',
    first(young),
    'wait 6 s: there is no Machine n17',
    { machine: null },
  ],
  [
    'a Machine whose newer UID our view may not have yet',
    renewal({ ...young, machineUid: 'newer' }),
    `wait 6 s: expected the UID ${UID} of Machine n17, got newer`,
  ],
  [
    'a record that our view may not have yet',
    first(young),
    'wait 6 s: system:bootstrap:abc123 is not the newest bootstrap token of Machine n17',
    { token: null },
  ],
  [
    'a MachineComponent that our view may not have yet',
    kubelet(young),
    'wait 6 s: no component of Machine n17 has identity: Kubelet',
    { identity: 'NotFound' },
  ],
  [
    'proof that the agent before is dead',
    first(young),
    `wait 41 s: the agent of Machine n17 is alive. ${hint}`,
    { heartbeatAgeMs: 0 },
  ],
];

const leaves: Row[] = [
  [
    'a certificate that a kubelet requests for a name of others',
    fromNode({ content: parsed('metrics', 'monitoring') }),
    'leave: it is in no name of kubenode',
  ],
  ['an approved request', first({ state: 'Approved' }), 'leave: it is approved'],
  ['a denied request', first({ state: 'Denied' }), 'leave: it is denied'],
  [
    'a request of a kubelet in its own name',
    kubelet({ username: 'system:node:n17', groups: ['system:nodes'] }),
    'leave: it is in no name of kubenode',
  ],
  [
    'a node that joins with kubeadm',
    kubelet({
      username: 'system:bootstrap:kubead',
      groups: ['system:bootstrappers:kubeadm:default-node-token'],
    }),
    'leave: it is in no name of kubenode',
  ],
  [
    'the serving certificate of a kubelet',
    kubelet({ signer: 'kubernetes.io/kubelet-serving' }),
    'leave: it is in no name of kubenode',
  ],
  [
    'a certificate of a person',
    first({ username: 'anna', groups: [], content: parsed('anna', 'team') }),
    'leave: it is in no name of kubenode',
  ],
  [
    'a signer of somebody else',
    first({ signer: 'example.com/signer' }),
    'leave: it is in no name of kubenode',
  ],
  [
    'a request of somebody else that cannot be parsed',
    first({ username: 'anna', groups: [], content: undefined }),
    'leave: it is in no name of kubenode',
  ],
];

function decide(request: AgentRequest, known?: Known): string {
  const found = planApproval(request, snapshot(known));
  if (found.type === 'Deny') return `deny ${found.reason}: ${found.because}`;
  if (found.type !== 'Wait') return `${found.type.toLowerCase()}: ${found.because}`;
  return `wait ${(found.until.getTime() - NOW.getTime()) / 1000} s: ${found.because}`;
}

describe('planApproval', () => {
  it.each(approves)('approves %s', (_, request, expected, known) => {
    expect(decide(request, known)).toBe(expected);
  });
  it.each(deniesContent)('MAC-14 denies a request that holds %s', (_, request, expected, known) => {
    expect(decide(request, known)).toBe(expected);
  });
  it.each(deniesRequester)(
    'MAC-14 denies a certificate that is requested by %s',
    (_, request, expected, known) => {
      expect(decide(request, known)).toBe(expected);
    },
  );
  it.each(deniesMachine)(
    'MAC-14 denies a certificate for the wrong Machine: %s',
    (_, request, expected, known) => {
      expect(decide(request, known)).toBe(expected);
    },
  );
  it.each(deniesToken)(
    'MAC-14 denies a first certificate with or beside %s',
    (_, request, expected, known) => {
      expect(decide(request, known)).toBe(expected);
    },
  );
  it.each(waits)('waits for %s', (_, request, expected, known) => {
    expect(decide(request, known)).toBe(expected);
  });
  it.each(leaves)('leaves alone %s', (_, request, expected) => {
    expect(decide(request)).toBe(expected);
  });
});
