import { describe, expect, it } from 'vitest';
import type { DefenderLedger, LedgerGrant, Machine } from '../../../../src/api/generated/types.ts';
import { type OrphanInput, planOrphan } from '../../../../src/controllers/remedyjob/plan/orphans.ts';
import { planTaint } from '../../../../src/controllers/remedyjob/plan/owned-taints.ts';
import { OUT_OF_SERVICE_TAINT } from '../../../../src/controllers/remedyjob/power/out-of-service.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { patchJson } from '../../../../src/sim/api-server/json-patch.ts';
import { NOW } from '../../../support/builders.ts';
import { BOOT, CORDONED, GRANT, jobMachine, jobNode, repairJob } from '../jobs.ts';

const DISK = { key: 'kubenode.dev/disk', effect: 'NoSchedule' } as const;
const marked = jobNode(CORDONED);
const tainted = patchJson(marked, planTaint(marked, DISK, GRANT.id)) as KubeObject;

function outOfService(bootID: string): KubeObject {
  const node = jobNode({ bootID });
  return patchJson(node, planTaint(node, OUT_OF_SERVICE_TAINT, GRANT.id)) as KubeObject;
}

function silent(): KubeObject {
  const node = outOfService(BOOT);
  return {
    ...node,
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }], nodeInfo: { bootID: BOOT } },
  };
}

function ledger(state: LedgerGrant['state'] | undefined): DefenderLedger {
  const grants = state ? { m: { ...GRANT, state } } : {};
  return { spec: { grants } } as unknown as DefenderLedger;
}

function input(fields: Partial<OrphanInput> = {}): OrphanInput {
  return {
    node: tainted,
    machine: jobMachine(),
    ledger: ledger('Settled'),
    jobOf: () => undefined,
    now: NOW,
    ...fields,
  };
}

const draining: Machine = jobMachine({
  drain: { grant: GRANT.id, state: 'Draining', since: NOW.toISOString() },
});
const held: Machine = {
  ...jobMachine(),
  spec: { ...jobMachine().spec, hold: { reason: 'mine', scope: 'All' } },
};

describe('planOrphan', () => {
  it.each<[name: string, fields: Partial<OrphanInput>, expected: string]>([
    ['removes what a missing job has left', {}, 'Remove'],
    ['removes them when the ledger does not know the grant', { ledger: ledger(undefined) }, 'Remove'],
    [
      'leaves those of a job',
      { jobOf: (grant) => (grant === GRANT.id ? repairJob() : undefined) },
      'Nothing',
    ],
    ['leaves those of a drain of the Machine', { machine: draining }, 'Nothing'],
    ['leaves the cordon of a person', { node: jobNode({ spec: { unschedulable: true } }) }, 'Nothing'],
    ['waits until the grant is settled', { ledger: ledger('Started') }, 'Wait'],
    ['waits for the ledger', { ledger: undefined }, 'Wait'],
    ['waits while a person holds the machine', { machine: held }, 'Wait'],
    ['waits for the Machine', { machine: undefined }, 'Wait'],
  ])('R34 sweeps after jobs without a settlement: %s', (_, fields, expected) => {
    expect(planOrphan(input(fields)).type).toBe(expected);
  });

  it.each<[name: string, fields: Partial<OrphanInput>, expected: string]>([
    ['stays while the machine is off', { jobOf: () => repairJob(), node: silent() }, 'Nothing'],
    ['goes when the Node is Ready at the same boot', { jobOf: () => repairJob() }, 'Remove'],
    ['goes at another boot', { jobOf: () => repairJob(), node: outOfService('boot-2') }, 'Remove'],
    [
      'goes at another boot although a person holds the machine',
      { jobOf: () => repairJob(), node: outOfService('boot-2'), machine: held },
      'Remove',
    ],
    ['goes without its job when the Node is Ready', { machine: held }, 'Remove'],
    [
      'stays without its job until the grant is settled',
      { ledger: ledger('Started'), node: silent() },
      'Wait',
    ],
  ])('R35 removes the release of pods and volumes at the next boot: %s', (_, fields, expected) => {
    expect(planOrphan(input({ node: outOfService(BOOT), ...fields })).type).toBe(expected);
  });

  it('R34 leaves the Node as it was before the job', () => {
    const plan = planOrphan(input());
    const node = plan.type === 'Remove' ? (patchJson(tainted, plan.operations) as KubeObject) : tainted;
    expect([node['spec'], node.metadata.annotations]).toEqual([
      { taints: [] },
      { 'kubenode.dev/owned': '{}' },
    ]);
  });
});
