/** What an agent may and may not, asked with real client certificates: kubenode-agent-own-objects and -blocked. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  ANNOTATION_BOOTSTRAP_TOKEN,
  agentUser,
  POLICY_AGENT_BLOCKED as BLOCKED,
  POLICY_AGENT_BLOCKED_OBJECT as BLOCKED_OBJECT,
  LABEL_AGENT_BLOCKED,
  LABEL_POOL,
  NAMESPACE_AGENTS,
  POLICY_AGENT_OWN_OBJECTS as OWN,
  PRINCIPAL_APPROVER,
  PRINCIPAL_MACHINE,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type AccessDecision, type Attempt, apply, create, finalDecision, patch } from '../attempts.ts';
import { type ResourceKind, resources } from '../resources.ts';
import { example, job, type SampleCluster, startSampleCluster } from '../sample-cluster.ts';

let sample: SampleCluster;
beforeAll(async () => {
  sample = await startSampleCluster();
});
afterAll(() => sample?.stop());

const at = '2026-11-20T07:00:05Z';
const AT_MICRO = '2026-11-20T07:00:05.000000Z';
/** A real request, for CN kubenode:agent:n17 and O kubenode:agents; its key was not kept. */
const CSR =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIeE1JR1pBZ0VBTURjeEdEQVdCZ05WQkFvTUQydDFZbVZ1YjJSbE9tRm5aVzUwY3pFYk1Ca0dBMVVFQXd3UwphM1ZpWlc1dlpHVTZZV2RsYm5RNmJqRTNNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVKVlphCnFxMGZmRThGZm5YVDdQVnJIRjd6dnJtQWxuTWZwRTZCVVIyNDNTQlhxQU9JekxUMGxud1o0R3JxdVlSQ2tSRjMKSWlUcnkyRG8yaWZkd2czUHlhQUFNQW9HQ0NxR1NNNDlCQU1DQTBjQU1FUUNJRDNobVpMdnJVbGNDalh1YmE5SgpOMmMzYmQwNnVDRDVvdTB5VjMzbkliZkFBaUFlZWg3WmtuZnNCU1lsNTJPaGJBQmpoSHova3hrMWNsbmdJN3lmCmRUYjlHQT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

const step = { id: 's1', try: 1, fence: 90_117, state: 'Running', startedAt: at };
// With the fence of its grant, so that no other policy minds.
const release = { step: 's1', try: 1, fence: 1, nodeUID: 'u', bootID: 'b', notAfter: at };

type Row = [it: string, attempt: Attempt, decide: AccessDecision];

const machineRows: Row[] = [
  ['writes status.agent of its Machine', machineStatus('n17', { agent: { version: 'v2' } }), 'allowed'],
  [
    'writes facts, drift, system and components',
    machineStatus('n17', { facts: { bootedAt: at }, system: { os: 'linux' } }),
    'allowed',
  ],
  [
    'writes its own condition',
    machineStatus('n17', { conditions: [condition('ComponentsReady')] }),
    'allowed',
  ],
  ['writes no other Machine', machineStatus('n18', { agent: { version: 'v2' } }), OWN],
  ['writes no faults', machineStatus('n17', { faults: [{ type: 'Disk', status: 'True', since: at }] }), OWN],
  ['writes no repairs', machineStatus('n17', { repairs: { total: 0 } }), OWN],
  [
    'writes no instance',
    patch('Machine', 'n17', { status: { infra: { zone: 'elsewhere' } } }, 'status'),
    OWN,
  ],
  ["takes away nothing of another's", patch('Machine', 'n17', { status: { node: null } }, 'status'), OWN],
  ['does not call itself Ready', machineStatus('n17', { conditions: [condition('Verified')] }), OWN],
  ['takes no condition away', patch('Machine', 'n17', { status: { conditions: [] } }, 'status'), OWN],
  ['writes no spec', patch('Machine', 'n17', { spec: { paused: true } }), 'no permission'],
  ['writes no label', patch('Machine', 'n17', { metadata: { labels: { a: 'b' } } }), 'no permission'],
];

const jobRows: Row[] = [
  ['answers in its own job', jobStatus('n17', { agent: { steps: [step] } }), 'allowed'],
  ['answers in no other job', jobStatus('n18', { agent: { steps: [step] } }), OWN],
  ['writes no steps of the controller', jobStatus('n17', { steps: [{ id: 's1', state: 'Succeeded' }] }), OWN],
  ['releases nothing to itself', jobStatus('n17', { release }), OWN],
  ['creates no job', create(job('n17')), 'no permission'],
];

const nodeRows: Row[] = [
  ['writes a condition of its Node', nodeStatus('n17', [condition('KernelDeadlock')]), 'allowed'],
  ['writes no condition of another Node', nodeStatus('n18', [condition('KernelDeadlock')]), OWN],
  ...['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'].map(
    (type): Row => [`does not write the kubelet's ${type}`, nodeStatus('n17', [condition(type)]), OWN],
  ),
  ['changes no capacity', apply('Node', 'n17', { status: { capacity: { cpu: '400' } } }, 'status'), OWN],
  [
    'changes no labels by way of status',
    patch('Node', 'n17', { metadata: { labels: { pool: 'b' } } }, 'status'),
    OWN,
  ],
  ['does not uncordon', patch('Node', 'n17', { spec: { unschedulable: false } }), 'no permission'],
];

const otherRows: Row[] = [
  ['beats its heart', create(lease('n17')), 'allowed'],
  ['beats no other heart', create(lease('n18')), OWN],
  [
    'leads nothing',
    create({ ...lease('n17'), metadata: { name: 'n17', namespace: 'kubenode-system' } }),
    'no permission',
  ],
  ['reports about its Machine', create(event('Machine', 'n17')), 'allowed'],
  ['reports about its Node', create(event('Node', 'n17')), 'allowed'],
  ['reports about its job', create(event('RemedyOperationJob', job('n17').metadata.name)), 'allowed'],
  ['reports about no other Machine', create(event('Machine', 'n18')), OWN],
  ['reports about no other job', create(event('RemedyOperationJob', job('n18').metadata.name)), OWN],
  ['reports about nothing else', create(event('MachineSet', 'n17')), OWN],
  ['asks for its certificate', create(request('kubernetes.io/kube-apiserver-client')), 'allowed'],
  [
    "asks for its kubelet's certificate",
    create(request('kubernetes.io/kube-apiserver-client-kubelet')),
    'allowed',
  ],
  [
    'asks for no certificate of a server',
    create(request('kubernetes.io/kubelet-serving', ['server auth'])),
    OWN,
  ],
  [
    "asks for no certificate for servers in a client's name",
    create(request('kubernetes.io/kube-apiserver-client', ['server auth'])),
    OWN,
  ],
  [
    'reads no Secret',
    (client) => client.list(resources.Secret, { namespace: 'kubenode-system' }),
    'no permission',
  ],
  ['reads no Pod', (client) => client.list(resources.Pod, { namespace: 'default' }), 'no permission'],
  ['reads no ledger', (client) => client.get(resources.DefenderLedger, { name: 'default' }), 'no permission'],
  ['reads Machines', (client) => client.get(resources.Machine, { name: 'n18' }), 'allowed'],
];

/** What a thief of the certificate of n17 would try next. */
const stolenRows: Row[] = [
  [
    'makes no bootstrap token',
    create(secret('kube-system', 'bootstrap.kubernetes.io/token')),
    'no permission',
  ],
  ['makes no Secret of controllers', create(secret('kubenode-system', 'Opaque')), 'no permission'],
  [
    'reads no Secret of kube-system',
    (client) => client.list(resources.Secret, { namespace: 'kube-system' }),
    'no permission',
  ],
  [
    'lists no certificate requests',
    (client) => client.list(resources.CertificateSigningRequest),
    'no permission',
  ],
  [
    'registers no Node',
    create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n19' } }),
    'no permission',
  ],
  ['taints no other Node', patch('Node', 'n18', { spec: { taints: [] } }), 'no permission'],
  ['blocks no other agent', patch('Machine', 'n18', { metadata: { labels: { a: 'b' } } }), 'no permission'],
  ['raises no epoch', patch('Machine', 'n17', { spec: { agentEpoch: 1 } }), 'no permission'],
  [
    'clears no conditions of another Machine',
    patch('Machine', 'n18', { status: { conditions: [] } }, 'status'),
    OWN,
  ],
  ['clears no status of another job', jobPatch('n18', { status: { agent: null } }), OWN],
  ['clears no status of another Node', patch('Node', 'n18', { status: { conditions: [] } }, 'status'), OWN],
  ['deletes no other Machine', (client) => remove(client, 'Machine', 'n18'), 'no permission'],
  ['deletes not its own Machine', (client) => remove(client, 'Machine', 'n17'), 'no permission'],
  ['deletes no other Node', (client) => remove(client, 'Node', 'n18'), 'no permission'],
  ['grants itself no role', create(adminBinding()), 'no permission'],
  ['asks for no certificate of another signer', create(request('example.com/signer')), OWN],
  [
    'asks for no certificate that signs code',
    create(request('kubernetes.io/kube-apiserver-client', ['code signing'])),
    OWN,
  ],
];

describe('the agent of n17', () => {
  it.each(stolenRows)('MAC-15 with a stolen certificate, %s', async (_, attempt, expected) => {
    const agent = await sample.agent('n17');
    expect(await finalDecision(agent, attempt, expected)).toBe(expected);
  });

  it.each([...machineRows, ...jobRows, ...nodeRows, ...otherRows])('%s', async (_, attempt, expected) => {
    const agent = await sample.agent('n17');
    expect(await finalDecision(agent, attempt, expected)).toBe(expected);
  });

  // Real writes: the server drops metadata from a write of a status without a word.
  it('MAC-15 forges no record of a bootstrap token and no label by way of its status', async () => {
    const agent = await sample.agent('n17');
    const annotations = { [ANNOTATION_BOOTSTRAP_TOKEN]: '{"id":"abc123"}' };
    const metadata = { annotations, labels: { [LABEL_POOL]: 'other' }, finalizers: ['kubenode.dev/x'] };
    const body = { metadata, status: { agent: { version: 'v3' } } };
    await agent.patch(resources.Machine, { name: 'n17' }, { type: 'merge', body }, { subresource: 'status' });
    const after = await sample.admin.get(resources.Machine, { name: 'n17' });
    expect(after['status']).toMatchObject({ agent: { version: 'v3' } });
    expect(after.metadata.annotations?.[ANNOTATION_BOOTSTRAP_TOKEN]).toBeUndefined();
    expect(after.metadata.labels?.[LABEL_POOL]).not.toBe('other');
    expect(after.metadata.finalizers ?? []).not.toContain('kubenode.dev/x');
  });

  it('MAC-15 takes over no Lease that exists, and deletes none', async () => {
    const agent = await sample.agent('n17');
    const [own, other] = [await createdLease('n17'), await createdLease('n18')];
    expect(await finalDecision(agent, heldBy('n17', 'n17'), 'allowed')).toBe('allowed');
    expect(await finalDecision(agent, heldBy('n18', 'n17'), OWN)).toBe(OWN);
    for (const { metadata } of [own, other]) {
      const removal: Attempt = (client) =>
        client.delete(resources.Lease, metadata, { uid: metadata.uid ?? '', dryRun: true });
      expect(await finalDecision(agent, removal, 'no permission')).toBe('no permission');
    }
  });

  it.each([PRINCIPAL_MACHINE, PRINCIPAL_APPROVER, PRINCIPAL_SYNC])(
    'MAC-15 does not act as %s with a stolen certificate',
    async (principal) => {
      const impersonate = { user: serviceAccountUser(principal) };
      const stolen = await sample.as(agentUser('n17'), ['kubenode:agents'], impersonate);
      expect(await finalDecision(stolen, (client) => client.list(resources.Machine), 'no permission')).toBe(
        'no permission',
      );
    },
  );

  it('MAC-15 does not act as the agent of another machine with a stolen certificate', async () => {
    const impersonate = { user: agentUser('n18'), groups: ['kubenode:agents'] };
    const stolen = await sample.as(agentUser('n17'), ['kubenode:agents'], impersonate);
    const attempt = machineStatus('n18', { agent: { version: 'v2' } });
    expect(await finalDecision(stolen, attempt, 'no permission')).toBe('no permission');
  });

  it('updates its own Event, and no other one', async () => {
    const agent = await sample.agent('n17');
    for (const machine of ['n17', 'n18']) {
      await sample.admin.create(resources.Event, event('Machine', machine, `of-${machine}`));
    }
    const series = { count: 2, lastObservedTime: AT_MICRO };
    expect(await finalDecision(agent, changeEvent('of-n17', { series }), 'allowed')).toBe('allowed');
    expect(await finalDecision(agent, changeEvent('of-n18', { series }), OWN)).toBe(OWN);
  });

  // In events.k8s.io the server itself keeps the subject.
  it('takes over no Event in the older API, even as an administrator', async () => {
    const agent = await sample.as(agentUser('n17'), ['kubenode:agents', 'system:masters']);
    const older = { ...resources.Event, group: '' };
    for (const machine of ['n17', 'n18']) {
      const metadata = { name: `older-${machine}`, namespace: 'default' };
      const involvedObject = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', name: machine };
      const object = { apiVersion: 'v1', kind: 'Event', metadata, involvedObject, reason: 'AgentSaw' };
      await sample.admin.create(older, object);
    }
    const take = (from: string, to: string): Attempt =>
      changeEvent(`older-${from}`, { involvedObject: { name: to } }, older);
    expect(await finalDecision(agent, changeEvent('older-n17', { count: 2 }, older), 'allowed')).toBe(
      'allowed',
    );
    expect(await finalDecision(agent, take('n18', 'n17'), OWN)).toBe(OWN);
    expect(await finalDecision(agent, take('n17', 'n18'), OWN)).toBe(OWN);
  });

  it('may create access reviews about itself', async () => {
    const agent = await sample.agent('n17');
    const resource = {
      group: 'authorization.k8s.io',
      version: 'v1',
      kind: 'SelfSubjectAccessReview',
      plural: 'selfsubjectaccessreviews',
      namespaced: false,
    };
    const spec = { resourceAttributes: { verb: 'get', resource: 'secrets' } };
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec,
    } as unknown as KubeObject;
    expect(await finalDecision(agent, (client) => client.create(resource, review), 'allowed')).toBe(
      'allowed',
    );
  });

  // Somebody gives agents more than we do: the policy holds all the same.
  it.each<[string, Attempt]>([
    [
      'creates no Secret',
      create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'default' } }),
    ],
    ['writes no spec', patch('Machine', 'n17', { spec: { zone: 'b' } })],
    ['creates no component', create(example('MachineComponent is a service with files and probes'))],
    ['deletes no Node', (client) => remove(client, 'Node', 'n17')],
    ['deletes not its own job', (client) => remove(client, 'RemedyOperationJob', job('n17').metadata.name)],
    ['creates no job', create(job('n17'))],
    ['leads nothing', create({ ...lease('n17'), metadata: { name: 'n17', namespace: 'kubenode-system' } })],
  ])('%s, even as an administrator', async (_, attempt) => {
    const agent = await sample.as(agentUser('n17'), ['kubenode:agents', 'system:masters']);
    expect(await finalDecision(agent, attempt, OWN)).toBe(OWN);
  });

  it('is recognized by its user name or by its group', async () => {
    const named = await sample.as(agentUser('n17'), ['system:masters']);
    const grouped = await sample.as('somebody', ['kubenode:agents', 'system:masters']);
    const attempt = machineStatus('n18', { agent: { version: 'v2' } });
    expect(await finalDecision(named, attempt, OWN)).toBe(OWN);
    expect(await finalDecision(grouped, attempt, OWN)).toBe(OWN);
  });
});

describe('a blocked agent', () => {
  it('cannot write until the label is removed; other agents can, and its certificate requests are left to the approver', async () => {
    const [agent, other] = [await sample.agent('n17'), await sample.agent('n18')];
    const status = machineStatus('n17', { agent: { version: 'v2' } });
    const acts = [
      jobStatus('n17', { agent: { steps: [step] } }),
      create(lease('n17')),
      nodeStatus('n17', [condition('KernelDeadlock')]),
      create(event('Machine', 'n17')),
    ];
    await label('n17', 'CertificateLost');
    for (const attempt of acts) expect(await finalDecision(agent, attempt, BLOCKED)).toBe(BLOCKED);
    expect(await finalDecision(agent, status, BLOCKED_OBJECT)).toBe(BLOCKED_OBJECT);
    expect(await finalDecision(other, machineStatus('n18', { agent: { version: 'v2' } }), 'allowed')).toBe(
      'allowed',
    );
    expect(
      await finalDecision(agent, create(request('kubernetes.io/kube-apiserver-client')), 'allowed'),
    ).toBe('allowed');
    await label('n17', null);
    for (const attempt of [...acts, status]) {
      expect(await finalDecision(agent, attempt, 'allowed')).toBe('allowed');
    }
  });

  it('cannot renew its Lease when the label is on it, nor take it away; other clients can', async () => {
    const agent = await sample.agent('n17');
    const { admin } = sample;
    const name = { name: 'n17', namespace: NAMESPACE_AGENTS };
    await createdLease('n17');
    const renew = changeLease({ spec: { renewTime: AT_MICRO } });
    expect(await finalDecision(agent, renew, 'allowed')).toBe('allowed');
    await admin.patch(resources.Lease, name, { type: 'merge', body: blockedBy('CertificateLost') });
    for (const attempt of [renew, changeLease(blockedBy(null))]) {
      expect(await finalDecision(agent, attempt, BLOCKED_OBJECT)).toBe(BLOCKED_OBJECT);
    }
    expect(await finalDecision(admin, renew, 'allowed')).toBe('allowed');
  });
});

/** It is deleted at the end of the test: the next one may create it, too. */
async function createdLease(name: string): Promise<KubeObject> {
  const created = await sample.admin.create(resources.Lease, lease(name));
  const { uid = '' } = created.metadata;
  onTestFinished(async () => void (await sample.admin.delete(resources.Lease, created.metadata, { uid })));
  return created;
}

function heldBy(name: string, holder: string): Attempt {
  const object = { ...lease(name), spec: { holderIdentity: holder } };
  const options = { fieldManager: 'kubenode-agent', force: true, dryRun: true };
  return (client) => client.apply(resources.Lease, object, options);
}

function changeLease(body: Readonly<Record<string, unknown>>): Attempt {
  const name = { name: 'n17', namespace: NAMESPACE_AGENTS };
  return (client) => client.patch(resources.Lease, name, { type: 'merge', body }, { dryRun: true });
}

function condition(type: string): object {
  return { type, status: 'True', reason: 'Seen', message: '', lastTransitionTime: at };
}

function lease(name: string): KubeObject {
  const metadata = { name, namespace: NAMESPACE_AGENTS };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: { holderIdentity: name } };
}

function secret(namespace: string, type: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', type, metadata: { name: 'stolen', namespace } };
}

function adminBinding(): KubeObject {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'stolen' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup, kind: 'User', name: agentUser('n17') }],
  };
}

function jobPatch(machine: string, body: Readonly<Record<string, unknown>>): Attempt {
  return patch('RemedyOperationJob', job(machine).metadata.name, body, 'status');
}

function event(kind: string, name: string, eventName = 'an-event'): KubeObject {
  const apiVersion = kind === 'Node' ? 'v1' : 'kubenode.dev/v1alpha1';
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: eventName, namespace: 'default' },
    regarding: { apiVersion, kind, name },
    eventTime: AT_MICRO,
    reportingController: 'kubenode-agent',
    reportingInstance: 'n17',
    action: 'See',
    reason: 'AgentSaw',
    note: '',
    type: 'Normal',
  };
}

function request(signerName: string, usages: readonly string[] = ['client auth']): KubeObject {
  const spec = { request: CSR, signerName, usages };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'n17' },
    spec,
  };
}

/** Refused or not: a delete that would be carried out is a dry run. */
async function remove(client: Client, kind: ResourceKind, name: string): Promise<void> {
  const { metadata } = await sample.admin.get(resources[kind], { name });
  await client.delete(resources[kind], { name }, { uid: metadata.uid ?? '', dryRun: true });
}

function machineStatus(name: string, status: object): Attempt {
  return apply('Machine', name, { status }, 'status');
}

function jobStatus(machine: string, status: object): Attempt {
  return apply('RemedyOperationJob', job(machine).metadata.name, { status }, 'status');
}

function nodeStatus(name: string, conditions: readonly object[]): Attempt {
  return apply('Node', name, { status: { conditions } }, 'status');
}

function blockedBy(value: string | null): Readonly<Record<string, unknown>> {
  return { metadata: { labels: { [LABEL_AGENT_BLOCKED]: value } } };
}

async function label(name: string, value: string | null): Promise<void> {
  await sample.admin.patch(resources.Machine, { name }, { type: 'merge', body: blockedBy(value) });
}

function changeEvent(name: string, body: Record<string, unknown>, resource = resources.Event): Attempt {
  const options = { dryRun: true };
  const merge = { type: 'merge', body } as const;
  return (client) => client.patch(resource, { name, namespace: 'default' }, merge, options);
}
