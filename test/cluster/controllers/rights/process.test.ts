/**
 * The rights that the process has itself are taken away, and missed: its Lease, and the accounts that it impersonates. And that
 * of the Defender to create its ledger, for some time after which it grants little.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINE_SETS, MACHINES } from '../../../../src/api/generated/resources.ts';
import {
  NAMESPACE,
  PRINCIPAL_APPROVER,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_HOSTDOCTOR,
  PRINCIPAL_MACHINE,
  PRINCIPAL_MACHINESET,
  PRINCIPAL_REMEDY,
} from '../../../../src/api/names.ts';
import { controllersRights, defenderRights } from '../../../../src/api/roles/controllers.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { valueAt } from '../../../../src/kube/objects/json.ts';
import type { Resource } from '../../../../src/kube/objects/object.ts';
import { slice } from '../../../support/sweep-size.ts';
import { readLedger } from '../../defender/objects.ts';
import { machineSetObject } from '../machine-cluster.ts';
import { expectedMisses, rightsIn, rightTo, textOf } from '../rights.ts';
import { type RightsBed, startRightsBed } from './bed.ts';
import { refusedAccounts, toImpersonate } from './impersonation.ts';

const LEASE = rightsIn(controllersRights([])).filter(({ resource }) => resource === 'leases');
const WATCHING = [
  PRINCIPAL_APPROVER,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_HOSTDOCTOR,
  PRINCIPAL_REMEDY,
];
/** They read what the Defender watches, and write. */
const WRITING = [PRINCIPAL_MACHINE, PRINCIPAL_MACHINESET];

const POLICY_BINDINGS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  namespaced: false,
};

let bed: RightsBed;
let sets = 0;
beforeAll(async () => {
  bed = await startRightsBed([]);
});
afterAll(() => bed?.stop());

async function hasRenewedLease(): Promise<boolean> {
  const [lease] = (await bed.admin.list(LEASES, { namespace: NAMESPACE })).items;
  if (!lease) return false;
  return String(valueAt(lease, 'spec', 'renewTime')) > String(valueAt(lease, 'spec', 'acquireTime'));
}

/** Waits until the process has renewed the Lease that it acquired. */
async function leads(): Promise<void> {
  await expect.poll(hasRenewedLease).toBe(true);
}

/** And a Machine of its own: a new one is written to. Returns the name of the set. */
async function createSet(): Promise<string> {
  sets += 1;
  const name = `set-${sets}`;
  const head = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name: `m-${sets}` } };
  const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' } };
  await bed.admin.create(MACHINES, { ...head, spec });
  await bed.admin.create(MACHINE_SETS, machineSetObject(name, 1));
  return name;
}

async function machinesOf(set: string): Promise<number> {
  const { items } = await bed.admin.list(MACHINES);
  return items.filter(({ metadata }) => metadata.name.startsWith(`${set}-`)).length;
}

/** Possible only for one who deletes the policy that forbids it first. */
async function deleteLedger(): Promise<void> {
  const [policy] = (await bed.admin.list(POLICY_BINDINGS)).items.filter(
    ({ metadata }) => metadata.name === 'kubenode-ledger-writer',
  );
  const { name = '', uid = '' } = policy?.metadata ?? {};
  await bed.admin.delete(POLICY_BINDINGS, { name }, { uid });
  const { metadata } = await readLedger(bed.admin);
  const isDeleted = (): Promise<boolean> =>
    bed.admin.delete(DEFENDER_LEDGERS, { name: metadata.name }, { uid: metadata.uid ?? '' }).then(
      () => true,
      (error: unknown) => isKubeError(error, 'NotFound'),
    );
  await expect.poll(isDeleted).toBe(true);
}

async function isLedgerFound(): Promise<boolean> {
  return (await bed.admin.list(DEFENDER_LEDGERS)).items.length > 0;
}

describe('the account of the process', () => {
  it.each(slice(LEASE, 2).map((right) => [textOf(right), right] as const))(
    'misses the right to %s, logs it, and leads with it',
    async (_text, right) => {
      // Only who takes a Lease over updates it.
      const isTakeover = right.verb === 'update';
      if (isTakeover) {
        await bed.restart();
        await leads();
      }
      const giveBack = await bed.takeAway(PRINCIPAL_CONTROLLERS, right);
      await (isTakeover ? bed.restartBehindLease() : bed.restart());
      await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_CONTROLLERS, right));
      await giveBack();
      bed.forgetLog();
      await bed.restart();
      await leads();
      expect(bed.missed()).toEqual([]);
    },
  );

  it.each(
    slice(
      [
        ['watch', WATCHING],
        ['only write', WRITING],
      ] as const,
      1,
    ),
  )(
    'misses the rights to impersonate accounts that %s, logs each, and continues with them',
    async (_what, accounts) => {
      const giveBack = await bed.takeAway(PRINCIPAL_CONTROLLERS, toImpersonate(...accounts));
      const set = await createSet();
      await bed.restart();
      await expect.poll(() => refusedAccounts(bed.logged())).toEqual(accounts.toSorted());
      expect(await machinesOf(set)).toBe(0);
      await giveBack();
      await expect.poll(() => machinesOf(set)).toBe(1);
    },
  );
});

describe('the account of the Defender', () => {
  it('misses the right to create a ledger that was deleted, logs it, and creates one with it', async () => {
    await bed.restart();
    await leads();
    const right = rightTo(rightsIn(defenderRights), 'create defenderledgers');
    const giveBack = await bed.takeAway(PRINCIPAL_DEFENDER, right);
    await deleteLedger();
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_DEFENDER, right));
    expect(await isLedgerFound()).toBe(false);
    await giveBack();
    await expect.poll(isLedgerFound).toBe(true);
  });
});
