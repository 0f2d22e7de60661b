/** No act without a grant: kubenode-ledger-writer, -components-writer and -grant-required. */
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
import {
  type Act,
  answer,
  apply,
  create,
  example,
  GRANTS,
  job,
  patch,
  renamed,
  resources,
  startWorld,
  type Verdict,
  type World,
} from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(() => world.server.wipe());
afterAll(() => world?.stop());

describe('the ledger', () => {
  it('is written by the defender', async () => {
    const defender = await world.account(PRINCIPAL_DEFENDER);
    expect(await answer(defender, write, 'allowed')).toBe('allowed');
    const status = patch('DefenderLedger', 'default', { status: { sizeBytes: 12 } }, 'status');
    expect(await answer(defender, status, 'allowed')).toBe('allowed');
  });

  it.each<[string, Act]>([
    ['written', write],
    ['deleted', remove],
    ['given a status', patch('DefenderLedger', 'default', { status: { sizeBytes: 12 } }, 'status')],
    ['created', create(renamed(example('DefenderLedger is new'), 'default'))],
  ])('is not %s by an administrator', async (_, act) => {
    expect(await answer(world.admin, act, LEDGER)).toBe(LEDGER);
  });

  it('is not deleted by the defender either, nor written by another controller', async () => {
    expect(await answer(await world.account(PRINCIPAL_DEFENDER), remove, 'no right')).toBe('no right');
    expect(await answer(await world.account(PRINCIPAL_REMEDY), write, 'no right')).toBe('no right');
  });
});

const pin = { name: 'kubelet', componentRef: 'kubelet-1.31.4', digest: `sha256:${'6b'.repeat(32)}` };
const assignment = { set: 'general-nodes', revision: 'r-5d41402a', batch: 1 };
const grant = { ...GRANTS.n17, entryDigest: `sha256:${'7c'.repeat(32)}`, notAfter: '2026-11-20T07:05:05Z' };
const other = { name: 'runc', componentRef: 'runc-1.1.0', digest: `sha256:${'8d'.repeat(32)}` };

describe('spec.components of a Machine', () => {
  // By the component set controller, on a Machine that has nothing yet.
  it.each<[string, object, Verdict]>([
    ['an entry with an assignment', { ...pin, assignment }, 'allowed'],
    ['a grant of the ledger', { ...pin, assignment, grant }, 'allowed'],
    ['a grant for a pin', { ...pin, grant }, 'allowed'],
    ['a grant with another id', { ...pin, grant: { ...grant, id: 'g-9' } }, COMPONENTS],
    ['a grant with another fence', { ...pin, grant: { ...grant, fence: 2 } }, COMPONENTS],
    ["another machine's grant", { ...pin, grant: { ...grant, ...GRANTS.n18 } }, COMPONENTS],
  ])('get %s from the controller', async (_, entry, wanted) => {
    const controller = await world.account(PRINCIPAL_COMPONENTSET);
    expect(await answer(controller, withComponents('n17', [entry]), wanted)).toBe(wanted);
  });

  it('get no grant that is settled, nor one for a machine without any', async () => {
    const controller = await world.account(PRINCIPAL_COMPONENTSET);
    const machine = renamed(example('Machine is created by a provider, whose own words go unread'), 'n19');
    for (const name of ['n19', 'n20']) await world.admin.create(resources.Machine, renamed(machine, name));
    const settled = withComponents('n19', [{ ...pin, grant: { ...grant, id: 'g-3', fence: 1 } }]);
    expect(await answer(controller, settled, COMPONENTS)).toBe(COMPONENTS);
    expect(await answer(controller, withComponents('n20', [{ ...pin, grant }]), COMPONENTS)).toBe(COMPONENTS);
  });

  // By an administrator, on a Machine with one entry that has both.
  it.each<[string, readonly object[] | null, Verdict]>([
    ['leaves all as it is', [{ ...pin, assignment, grant }], 'allowed'],
    ['adds a pin', [{ ...pin, assignment, grant }, other], 'allowed'],
    [
      'changes the entry and drops what is not its own, as plain apply does',
      [{ ...pin, componentRef: 'kubelet-1.31.5' }],
      'allowed',
    ],
    ['takes the entry away', [], 'allowed'],
    ['takes all entries away', null, 'allowed'],
    ['takes only the grant away', [{ ...pin, assignment }], 'allowed'],
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
  ])('are still whole when somebody else %s', async (_, entries, wanted) => {
    const controller = await world.account(PRINCIPAL_COMPONENTSET);
    await really(controller, { ...pin, assignment, grant });
    const act = patch('Machine', 'n17', { spec: { components: entries } });
    expect(await answer(world.admin, act, wanted)).toBe(wanted);
  });

  it('are created without assignment and grant, whoever creates the Machine', async () => {
    const machine = renamed(example('Machine is created by a provider, whose own words go unread'), 'n21');
    const spec = machine['spec'] as object;
    const act = (entry: object) => create({ ...machine, spec: { ...spec, components: [entry] } });
    expect(await answer(world.admin, act(pin), 'allowed')).toBe('allowed');
    expect(await answer(world.admin, act({ ...pin, assignment }), COMPONENTS)).toBe(COMPONENTS);
  });
});

describe('a job', () => {
  it.each<[string, KubeObject, Verdict]>([
    ['with the grant of the ledger', job('n17'), 'allowed'],
    ['with another id', job('n17', { id: 'g-9' }), GRANT],
    ['with another fence', job('n17', { fence: 2 }), GRANT],
    ["with another machine's grant", job('n17', GRANTS.n18), GRANT],
    ['with a grant that is settled', job('n19', { id: 'g-3', fence: 1 }), GRANT],
    ['for a machine without a grant', job('n20', GRANTS.n17), GRANT],
  ])('%s: its creation', async (_, object, wanted) => {
    const remedy = await world.account(PRINCIPAL_REMEDY);
    const second = { ...(object['spec'] as object), attempt: 2 };
    const renewed = renamed({ ...object, spec: second }, object.metadata.name.replace(/1$/, '2'));
    expect(await answer(remedy, create(renewed), wanted)).toBe(wanted);
  });

  it('is refused to an administrator as well', async () => {
    expect(await answer(world.admin, create(job('n20', GRANTS.n17)), GRANT)).toBe(GRANT);
  });

  it('releases a step only with the fence of its grant, and while that is not settled', async () => {
    const controller = await world.account(PRINCIPAL_REMEDYJOB);
    expect(await answer(controller, release(1), 'allowed')).toBe('allowed');
    expect(await answer(controller, release(2), GRANT)).toBe(GRANT);
    await settle();
    expect(await answer(controller, release(1), GRANT)).toBe(GRANT);
    expect(await answer(controller, jobStatus({ phase: 'Settling' }), 'allowed')).toBe('allowed');
  });

  it('keeps a release after the grant is settled, but gets no other one', async () => {
    const controller = await world.account(PRINCIPAL_REMEDYJOB);
    expect(await answer(controller, release(1), 'allowed')).toBe('allowed');
    const name = job('n17').metadata.name;
    const written = { type: 'merge', body: { status: { release: released(1) } } } as const;
    await controller.patch(resources.RemedyOperationJob, { name }, written, { subresource: 'status' });
    await settle();
    const renewed = { ...released(1), notAfter: '2026-11-20T07:02:05Z' };
    const writes: [status: object, wanted: Verdict][] = [
      [{ release: renewed }, GRANT],
      [{ phase: 'Settling' }, 'allowed'],
      [{ release: null }, 'allowed'],
    ];
    for (const [status, wanted] of writes) {
      const act = patch('RemedyOperationJob', name, { status }, 'status');
      expect(await answer(controller, act, wanted)).toBe(wanted);
    }
  });
});

describe('without a ledger', () => {
  it('nothing that needs a grant is possible, and nobody but the defender can say that there is one', async () => {
    const [remedy, controller] = [
      await world.account(PRINCIPAL_REMEDY),
      await world.account(PRINCIPAL_COMPONENTSET),
    ];
    await takeLedgerAway();
    expect(await answer(remedy, create(job('n20', GRANTS.n17)), GRANT)).toBe(GRANT);
    expect(await answer(controller, withComponents('n17', [{ ...pin, grant }]), COMPONENTS)).toBe(COMPONENTS);
    expect(
      await answer(world.admin, create(renamed(example('DefenderLedger is new'), 'default')), LEDGER),
    ).toBe(LEDGER);
    const defender = await world.account(PRINCIPAL_DEFENDER);
    expect(
      await answer(defender, create(renamed(example('DefenderLedger is new'), 'default')), 'allowed'),
    ).toBe('allowed');
  });
});

function withComponents(name: string, entries: readonly object[]): Act {
  return apply('Machine', name, { spec: machineWith(name, entries)['spec'] });
}

function machineWith(name: string, components: readonly object[]): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name }, spec: { components } };
}

function jobStatus(status: object): Act {
  return apply('RemedyOperationJob', job('n17').metadata.name, { status }, 'status');
}

function release(fence: number): Act {
  return jobStatus({ release: released(fence) });
}

function released(fence: number): object {
  return { step: 's1', try: 1, fence, nodeUID: 'u', bootID: 'b', notAfter: '2026-11-20T07:01:05Z' };
}

async function really(controller: Client, entry: object): Promise<void> {
  expect(await answer(controller, withComponents('n17', [entry]), 'allowed')).toBe('allowed');
  const fields = { fieldManager: 'kubenode-componentset', force: true };
  const object = machineWith('n17', [entry]);
  await controller.apply(resources.Machine, object, fields);
}

async function settle(): Promise<void> {
  const defender = await world.account(PRINCIPAL_DEFENDER);
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
  const kept = await world.admin.get(binding, { name: LEDGER });
  const live = await world.admin.get(resources.DefenderLedger, { name: 'default' });
  await world.admin.delete(binding, { name: LEDGER }, { uid: kept.metadata.uid ?? '' });
  const removal =
    (dryRun: boolean): Act =>
    (client) =>
      client.delete(resources.DefenderLedger, { name: 'default' }, { uid: live.metadata.uid ?? '', dryRun });
  expect(await answer(world.admin, removal(true), 'allowed')).toBe('allowed');
  await removal(false)(world.admin);
  const {
    apiVersion,
    kind,
    metadata: { name },
    spec,
  } = kept as KubeObject & { spec: unknown };
  await world.admin.create(binding, { apiVersion, kind, metadata: { name }, spec });
}

async function write(client: Client): Promise<unknown> {
  const live = await world.admin.get(resources.DefenderLedger, { name: 'default' });
  const { seq = 0 } = live['spec'] as { seq?: number };
  const spec = { ...(live['spec'] as object), seq: seq + 1 };
  return await client.replace(resources.DefenderLedger, { ...live, spec }, { dryRun: true });
}

async function remove(client: Client): Promise<void> {
  const { metadata } = await world.admin.get(resources.DefenderLedger, { name: 'default' });
  await client.delete(
    resources.DefenderLedger,
    { name: 'default' },
    { uid: metadata.uid ?? '', dryRun: true },
  );
}
