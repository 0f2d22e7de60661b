/** No attempt without a grant: kubenode-ledger-writer, -components-writer and -grant-required. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  POLICY_COMPONENTS_WRITER as COMPONENTS,
  POLICY_GRANT_REQUIRED as GRANT,
  POLICY_LEDGER_WRITER as LEDGER,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
} from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type AccessDecision, type Attempt, apply, create, finalDecision, patch } from '../attempts.ts';
import { resources } from '../resources.ts';
import { example, GRANTS, job, renamed, type SampleCluster, startSampleCluster } from '../sample-cluster.ts';

let sample: SampleCluster;
beforeAll(async () => {
  sample = await startSampleCluster();
});
beforeEach(() => sample.server.wipe());
afterAll(() => sample?.stop());

describe('the ledger', () => {
  it('is written by the Defender', async () => {
    const defender = await sample.account(PRINCIPAL_DEFENDER);
    expect(await finalDecision(defender, write, 'allowed')).toBe('allowed');
    const status = patch('DefenderLedger', 'default', { status: { sizeBytes: 12 } }, 'status');
    expect(await finalDecision(defender, status, 'allowed')).toBe('allowed');
  });

  it.each<[string, Attempt]>([
    ['written', write],
    ['deleted', remove],
    ['given a status', patch('DefenderLedger', 'default', { status: { sizeBytes: 12 } }, 'status')],
    ['created', create(renamed(example('DefenderLedger is new'), 'default'))],
  ])('is not %s by an administrator', async (_, attempt) => {
    expect(await finalDecision(sample.admin, attempt, LEDGER)).toBe(LEDGER);
  });

  it('cannot be deleted by the Defender, or written by another controller', async () => {
    expect(await finalDecision(await sample.account(PRINCIPAL_DEFENDER), remove, 'no permission')).toBe(
      'no permission',
    );
    expect(await finalDecision(await sample.account(PRINCIPAL_REMEDY), write, 'no permission')).toBe(
      'no permission',
    );
  });
});

const pin = { name: 'kubelet', componentRef: 'kubelet-1.31.4', digest: `sha256:${'6b'.repeat(32)}` };
const assignment = { set: 'general-nodes', revision: 'r-5d41402a', batch: 1 };
const grant = { ...GRANTS.n17, entryDigest: `sha256:${'7c'.repeat(32)}`, notAfter: '2026-11-20T07:05:05Z' };
const other = { name: 'runc', componentRef: 'runc-1.1.0', digest: `sha256:${'8d'.repeat(32)}` };

describe('spec.components of a Machine', () => {
  // By the component set controller, on a Machine that has nothing yet.
  it.each<[string, object, AccessDecision]>([
    ['an entry with an assignment', { ...pin, assignment }, 'allowed'],
    ['a grant of the ledger', { ...pin, assignment, grant }, 'allowed'],
    ['a grant for a pin', { ...pin, grant }, 'allowed'],
    ['a grant with another id', { ...pin, grant: { ...grant, id: 'g-9' } }, COMPONENTS],
    ['a grant with another fence', { ...pin, grant: { ...grant, fence: 2 } }, COMPONENTS],
    ["another machine's grant", { ...pin, grant: { ...grant, ...GRANTS.n18 } }, COMPONENTS],
  ])('get %s from the controller', async (_, entry, expected) => {
    const controller = await sample.account(PRINCIPAL_COMPONENTSET);
    expect(await finalDecision(controller, withComponents('n17', [entry]), expected)).toBe(expected);
  });

  it('get no settled grant, and no grant for a machine that has none in the ledger', async () => {
    const controller = await sample.account(PRINCIPAL_COMPONENTSET);
    const machine = renamed(example('Machine is created by a provider with its own config'), 'n19');
    for (const name of ['n19', 'n20']) await sample.admin.create(resources.Machine, renamed(machine, name));
    const settled = withComponents('n19', [{ ...pin, grant: { ...grant, id: 'g-3', fence: 1 } }]);
    expect(await finalDecision(controller, settled, COMPONENTS)).toBe(COMPONENTS);
    expect(await finalDecision(controller, withComponents('n20', [{ ...pin, grant }]), COMPONENTS)).toBe(
      COMPONENTS,
    );
  });

  // By an administrator, on a Machine with one entry that has both.
  it.each<[string, readonly object[] | null, AccessDecision]>([
    ['changes nothing', [{ ...pin, assignment, grant }], 'allowed'],
    ['adds a pin', [{ ...pin, assignment, grant }, other], 'allowed'],
    [
      'changes the entry and drops what is not its own, as plain apply does',
      [{ ...pin, componentRef: 'kubelet-1.31.5' }],
      'allowed',
    ],
    ['removes the entry', [], 'allowed'],
    ['removes all entries', null, 'allowed'],
    ['removes only the grant', [{ ...pin, assignment }], 'allowed'],
    ['changes the assignment', [{ ...pin, assignment: { ...assignment, batch: 2 }, grant }], COMPONENTS],
    [
      'changes the grant',
      [{ ...pin, assignment, grant: { ...grant, notAfter: '2027-11-20T07:05:05Z' } }],
      COMPONENTS,
    ],
    [
      'adds an entry with an assignment',
      [
        { ...pin, assignment, grant },
        { ...other, assignment },
      ],
      COMPONENTS,
    ],
    ['moves a grant to another entry', [{ ...other, grant }], COMPONENTS],
  ])('stay consistent when somebody else %s', async (_, entries, expected) => {
    const controller = await sample.account(PRINCIPAL_COMPONENTSET);
    await really(controller, { ...pin, assignment, grant });
    const attempt = patch('Machine', 'n17', { spec: { components: entries } });
    expect(await finalDecision(sample.admin, attempt, expected)).toBe(expected);
  });

  it('cannot have assignment or grant when a Machine is created', async () => {
    const machine = renamed(example('Machine is created by a provider with its own config'), 'n21');
    const spec = machine['spec'] as object;
    const attempt = (entry: object) => create({ ...machine, spec: { ...spec, components: [entry] } });
    expect(await finalDecision(sample.admin, attempt(pin), 'allowed')).toBe('allowed');
    expect(await finalDecision(sample.admin, attempt({ ...pin, assignment }), COMPONENTS)).toBe(COMPONENTS);
  });
});

describe('a job', () => {
  it.each<[string, KubeObject, AccessDecision]>([
    ['with the grant of the ledger', job('n17'), 'allowed'],
    ['with another id', job('n17', { id: 'g-9' }), GRANT],
    ['with another fence', job('n17', { fence: 2 }), GRANT],
    ["with another machine's grant", job('n17', GRANTS.n18), GRANT],
    ['with a grant that is settled', job('n19', { id: 'g-3', fence: 1 }), GRANT],
    ['for a machine without a grant', job('n20', GRANTS.n17), GRANT],
  ])('%s: its creation', async (_, object, expected) => {
    const remedy = await sample.account(PRINCIPAL_REMEDY);
    const second = { ...(object['spec'] as object), attempt: 2 };
    const renewed = renamed({ ...object, spec: second }, object.metadata.name.replace(/1$/, '2'));
    expect(await finalDecision(remedy, create(renewed), expected)).toBe(expected);
  });

  it('is denied to administrators too', async () => {
    expect(await finalDecision(sample.admin, create(job('n20', GRANTS.n17)), GRANT)).toBe(GRANT);
  });

  it('releases a step only with the fence of its unsettled grant', async () => {
    const controller = await sample.account(PRINCIPAL_REMEDYJOB);
    expect(await finalDecision(controller, release(1), 'allowed')).toBe('allowed');
    expect(await finalDecision(controller, release(2), GRANT)).toBe(GRANT);
    await settle();
    expect(await finalDecision(controller, release(1), GRANT)).toBe(GRANT);
    expect(await finalDecision(controller, jobStatus({ phase: 'Settling' }), 'allowed')).toBe('allowed');
  });

  it('keeps a release after its grant is settled, but gets no further one', async () => {
    const controller = await sample.account(PRINCIPAL_REMEDYJOB);
    expect(await finalDecision(controller, release(1), 'allowed')).toBe('allowed');
    const name = job('n17').metadata.name;
    const written = { type: 'merge', body: { status: { release: released(1) } } } as const;
    await controller.patch(resources.RemedyOperationJob, { name }, written, { subresource: 'status' });
    await settle();
    const renewed = { ...released(1), notAfter: '2026-11-20T07:02:05Z' };
    const writes: [status: object, expected: AccessDecision][] = [
      [{ release: renewed }, GRANT],
      [{ phase: 'Settling' }, 'allowed'],
      [{ release: null }, 'allowed'],
    ];
    for (const [status, expected] of writes) {
      const attempt = patch('RemedyOperationJob', name, { status }, 'status');
      expect(await finalDecision(controller, attempt, expected)).toBe(expected);
    }
  });
});

describe('without a ledger', () => {
  it('everything that needs a grant is denied, and only the Defender can create a ledger', async () => {
    const [remedy, controller] = [
      await sample.account(PRINCIPAL_REMEDY),
      await sample.account(PRINCIPAL_COMPONENTSET),
    ];
    await takeLedgerAway();
    expect(await finalDecision(remedy, create(job('n20', GRANTS.n17)), GRANT)).toBe(GRANT);
    expect(await finalDecision(controller, withComponents('n17', [{ ...pin, grant }]), COMPONENTS)).toBe(
      COMPONENTS,
    );
    expect(
      await finalDecision(sample.admin, create(renamed(example('DefenderLedger is new'), 'default')), LEDGER),
    ).toBe(LEDGER);
    const defender = await sample.account(PRINCIPAL_DEFENDER);
    expect(
      await finalDecision(defender, create(renamed(example('DefenderLedger is new'), 'default')), 'allowed'),
    ).toBe('allowed');
  });
});

function withComponents(name: string, entries: readonly object[]): Attempt {
  return apply('Machine', name, { spec: machineWith(name, entries)['spec'] });
}

function machineWith(name: string, components: readonly object[]): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name }, spec: { components } };
}

function jobStatus(status: object): Attempt {
  return apply('RemedyOperationJob', job('n17').metadata.name, { status }, 'status');
}

function release(fence: number): Attempt {
  return jobStatus({ release: released(fence) });
}

function released(fence: number): object {
  return { step: 's1', try: 1, fence, nodeUID: 'u', bootID: 'b', notAfter: '2026-11-20T07:01:05Z' };
}

async function really(controller: Client, entry: object): Promise<void> {
  expect(await finalDecision(controller, withComponents('n17', [entry]), 'allowed')).toBe('allowed');
  const fields = { fieldManager: 'kubenode-componentset', force: true };
  const object = machineWith('n17', [entry]);
  await controller.apply(resources.Machine, object, fields);
}

async function settle(): Promise<void> {
  const defender = await sample.account(PRINCIPAL_DEFENDER);
  const live = await defender.get(resources.DefenderLedger, { name: 'default' });
  const spec = live['spec'] as { grants: Record<string, object> };
  const n17 = {
    ...spec.grants['n17'],
    state: 'Settled',
    settledAt: '2026-11-20T07:03:00Z',
    outcome: 'Unused',
  };
  await defender.replace(resources.DefenderLedger, {
    ...live,
    spec: { ...spec, seq: 2, grants: { ...spec.grants, n17 } },
  });
}

/** As no account may delete it, the policy that keeps it has to go first, and comes back after. */
async function takeLedgerAway(): Promise<void> {
  const binding = {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    namespaced: false,
  };
  const kept = await sample.admin.get(binding, { name: LEDGER });
  const live = await sample.admin.get(resources.DefenderLedger, { name: 'default' });
  await sample.admin.delete(binding, { name: LEDGER }, { uid: kept.metadata.uid ?? '' });
  const removal =
    (dryRun: boolean): Attempt =>
    (client) =>
      client.delete(resources.DefenderLedger, { name: 'default' }, { uid: live.metadata.uid ?? '', dryRun });
  expect(await finalDecision(sample.admin, removal(true), 'allowed')).toBe('allowed');
  await removal(false)(sample.admin);
  const {
    apiVersion,
    kind,
    metadata: { name },
    spec,
  } = kept as KubeObject & { spec: unknown };
  await sample.admin.create(binding, { apiVersion, kind, metadata: { name }, spec });
}

async function write(client: Client): Promise<unknown> {
  const live = await sample.admin.get(resources.DefenderLedger, { name: 'default' });
  const { seq = 0 } = live['spec'] as { seq?: number };
  const spec = { ...(live['spec'] as object), seq: seq + 1 };
  return await client.replace(resources.DefenderLedger, { ...live, spec }, { dryRun: true });
}

async function remove(client: Client): Promise<void> {
  const { metadata } = await sample.admin.get(resources.DefenderLedger, { name: 'default' });
  await client.delete(
    resources.DefenderLedger,
    { name: 'default' },
    { uid: metadata.uid ?? '', dryRun: true },
  );
}
