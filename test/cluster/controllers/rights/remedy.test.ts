/** Each right of the accounts of repairs is taken away from `kubenode controllers`, which then logs or reports that it misses it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  NAMESPACE_OF_NODE_EVENTS,
  NAMESPACE_OF_NODE_LEASES,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
} from '../../../../src/api/names.ts';
import { remedyjobRights, remedyRights } from '../../../../src/api/roles/controllers.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { NODE_EVENTS } from '../../../../src/kube/objects/core-kinds.ts';
import { slice } from '../../../support/sweep-size.ts';
import { createBudget, deleteBudget } from '../budgeted-pod.ts';
import { expectedMisses, type Right, rightsIn, rightTo, textOf } from '../rights.ts';
import { READS, type RightsBed, startRightsBed } from './bed.ts';
import { refusedAccounts, toImpersonate } from './impersonation.ts';
import { createRepairs, type Repairs } from './repairs.ts';

const KINDS = [
  {
    resource: NODE_EVENTS,
    namespace: NAMESPACE_OF_NODE_EVENTS,
    spare: { involvedObject: { kind: 'Node', name: 'none' }, reason: 'Spare', message: 'spare' },
  },
  { resource: LEASES, namespace: NAMESPACE_OF_NODE_LEASES, spare: { spec: {} } },
];
/** Used for pods that the server does not let go: the job reports it. */
const DRAINING = ['list poddisruptionbudgets', 'create pods/eviction'];
/** Used before and after a machine is switched off, which no repair of this test does. */
const POWER = ['list volumeattachments', 'get nodes'];

let bed: RightsBed;
let repairs: Repairs;
beforeAll(async () => {
  bed = await startRightsBed(KINDS);
  repairs = createRepairs(bed);
  await repairs.applyRule(3600);
  bed.start();
});
afterAll(() => bed?.stop());

const named = (right: Right): readonly [string, Right] => [textOf(right), right];
const REMEDY = rightsIn(remedyRights);
/** Nothing watches Pods: those of a node are read for the gate of the rule. */
const LIST_PODS = rightTo(REMEDY, 'list pods');
const WATCHED = REMEDY.filter((right) => right !== LIST_PODS);
const WRITES = REMEDY.filter(({ verb }) => !READS.includes(verb) && verb !== 'delete');
const JOB = rightsIn(remedyjobRights);

async function waiting(machine: string): Promise<string> {
  return JSON.stringify((await repairs.job(machine))?.status?.waiting ?? {});
}

describe('the accounts of repairs', () => {
  it('do all that this test uses their rights for without a refusal', async () => {
    bed.forgetLog();
    await expect.poll(async () => (await repairs.rule()).status?.phase).toBe('Enforcing');
    await bed.read(...WATCHED);
    await repairs.recover(await repairs.fallIll());
    await repairs.deleteJobs();
    expect(bed.missed()).toEqual([]);
  });

  it.each(slice(READS, 1))(
    'miss the rights of rules to %s what they watch, log each, and continue with them',
    async (verb) => {
      const rights = WATCHED.filter((right) => right.verb === verb);
      const missed = await bed.missedWithout(PRINCIPAL_REMEDY, rights);
      expect(missed).toEqual(expectedMisses(PRINCIPAL_REMEDY, ...rights));
      await repairs.recover(await repairs.fallIll());
    },
  );

  it.each([LIST_PODS, ...slice(WRITES, 1)].map(named))(
    'miss the right of rules to %s, log it, and continue with it',
    async (_text, right) => {
      const giveBack = await bed.takeAway(PRINCIPAL_REMEDY, right);
      const machine = await repairs.fallIll();
      await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_REMEDY, right));
      await giveBack();
      await repairs.recover(machine);
    },
  );

  it('miss the right of rules to delete remedyoperationjobs, log it, and continue with it', async () => {
    await repairs.recover(await repairs.fallIll());
    const right = rightTo(REMEDY, 'delete remedyoperationjobs');
    const giveBack = await bed.takeAway(PRINCIPAL_REMEDY, right);
    await repairs.applyRule(1);
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_REMEDY, right));
    expect((await repairs.jobs()).length).toBeGreaterThan(0);
    await giveBack();
    await repairs.deleteJobs();
  });

  it.each(
    slice(
      JOB.filter((right) => ![...DRAINING, ...POWER].includes(textOf(right))),
      2,
    ).map(named),
  )('miss the right of jobs to %s, log it, and continue with it', async (_text, right) => {
    const giveBack = await bed.takeAway(PRINCIPAL_REMEDYJOB, right);
    const machine = await repairs.fallIll();
    const recovering = repairs.recover(machine);
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_REMEDYJOB, right));
    await giveBack();
    await recovering;
  });

  it('miss the right of the process to act as the account of jobs, log it, and continue with it', async () => {
    const giveBack = await bed.takeAway(PRINCIPAL_CONTROLLERS, toImpersonate(PRINCIPAL_REMEDYJOB));
    const machine = await repairs.fallIll();
    await expect.poll(() => refusedAccounts(bed.logged())).toEqual([PRINCIPAL_REMEDYJOB]);
    await giveBack();
    await repairs.recover(machine);
  });

  it('miss the right of jobs to evict a pod, report it in the job, and continue with it', async () => {
    const giveBack = await bed.takeAway(PRINCIPAL_REMEDYJOB, rightTo(JOB, 'create pods/eviction'));
    const machine = await repairs.fallIll();
    await expect.poll(() => waiting(machine)).toMatch(/is forbidden: User \W+\S+:kubenode-remedyjob/);
    await giveBack();
    await repairs.recover(machine);
  });

  it('name no budget without the right of jobs to list them, and name it with it', async () => {
    const giveBack = await bed.takeAway(PRINCIPAL_REMEDYJOB, rightTo(JOB, 'list poddisruptionbudgets'));
    await createBudget(bed.admin);
    const machine = await repairs.fallIll();
    await expect.poll(() => waiting(machine)).toMatch(/"kind":"Pod"/);
    await giveBack();
    await expect.poll(() => waiting(machine)).toMatch(/"kind":"PodDisruptionBudget","name":"web"/);
    await deleteBudget(bed.admin);
    await repairs.recover(machine);
  });
});
