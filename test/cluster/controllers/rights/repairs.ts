/** Repairs that need no agent: a rule that drains, over a new machine each time. */
import { expect } from 'vitest';
import { MACHINES, NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import {
  LABEL_MACHINE,
  MANAGER_SYNC,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../../src/api/names.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { condition } from '../../../support/builders.ts';
import { remedier } from '../../../support/remediers.ts';
import { ACCOUNTS, createMachineWithNode, patchNodeStatus } from '../../defender/objects.ts';
import { createPod } from '../budgeted-pod.ts';
import { type RightsBed, removeAtOnce } from './bed.ts';

const HUNG = {
  fact: 'condition',
  params: { type: 'FrequentTaskHung' },
  path: '$.status',
  operator: 'equal',
  value: 'True',
};
/** The Pods of the machine are read for it. */
const UNBLOCKED = { fact: 'workload', path: '$.blockers', operator: 'equal', value: 0 };
const WELL = { all: [{ ...HUNG, value: 'False' }] };
const reported = (status: string): object => ({ condition: { FrequentTaskHung: { status } } });
const RULE = {
  '/target/maxMatchPercent': 100,
  '/rule/conditions': { all: [HUNG] },
  '/rule/gate': UNBLOCKED,
  '/ladder/0/plan': [{ step: 'Cordon' }, { step: 'Drain' }],
  '/ladder/0/verify': { conditions: WELL, holdSeconds: 1 },
  '/tests': [
    { name: 'hung', expect: 'Match', given: { ...reported('True'), workload: { blockers: 0 } } },
    { name: 'blocked', expect: 'Held', given: { ...reported('True'), workload: { blockers: 1 } } },
    { name: 'well', expect: 'NoMatch', given: reported('False') },
    { name: 'silent', expect: 'Indeterminate', given: {} },
  ],
};
const NAME = 'drains';
/** Without it the Defender grants nothing. */
const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };

export interface Repairs {
  /** As sync does. Jobs that ended are kept for so long. */
  applyRule(ttlSeconds: number): Promise<void>;
  rule(): Promise<NodeRemedier>;
  /** A machine that falls ill, with a pod. Resolves with its name when its job has begun, if it is not told to go on. */
  fallIll(): Promise<string>;
  /** It is well again as soon as its pod left. Resolves when its job has ended. */
  recover(machine: string): Promise<void>;
  job(machine: string): Promise<RemedyOperationJob | undefined>;
  jobs(): Promise<readonly RemedyOperationJob[]>;
  /** By the controller of the rule: those that ended. */
  deleteJobs(): Promise<void>;
  /** By a person. */
  removeJobs(): Promise<void>;
  machine(name: string): Promise<Machine>;
}

export function createRepairs({ installed, admin }: RightsBed): Repairs {
  let made = 0;
  const jobs = async (): Promise<readonly RemedyOperationJob[]> =>
    (await admin.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS)).items;
  const job = async (machine: string): Promise<RemedyOperationJob | undefined> => {
    const labelSelector = `${LABEL_MACHINE}=${machine}`;
    const { items } = await admin.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { labelSelector });
    return items[0];
  };
  const machine = (name: string): Promise<Machine> => admin.get<Machine>(MACHINES, { name });
  const applyRule = async (ttlSeconds: number): Promise<void> => {
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    const rule = remedier({ ...RULE, '/job': { ttlSeconds } }, { name: NAME, annotations: COMMIT });
    await sync.apply(NODE_REMEDIERS, rule, { fieldManager: MANAGER_SYNC, force: true });
  };
  return {
    applyRule,
    rule: () => admin.get<NodeRemedier>(NODE_REMEDIERS, { name: NAME }),
    fallIll: async () => {
      made += 1;
      const name = `m-${made}`;
      await createMachineWithNode(admin, name);
      await createPod(admin, name);
      await report(name, 'True');
      return name;
    },
    recover: async (name) => {
      await expect.poll(async () => (await job(name))?.status?.phase).toBe('Verifying');
      await report(name, 'False');
      await expect.poll(async () => (await job(name))?.metadata.finalizers ?? []).toEqual([]);
      await expect.poll(async () => (await machine(name)).status?.faults ?? []).toEqual([]);
    },
    job,
    jobs,
    deleteJobs: async () => {
      await applyRule(1);
      await expect.poll(jobs).toEqual([]);
      await applyRule(3600);
    },
    removeJobs: async () => {
      for (const { metadata } of await jobs()) {
        await removeAtOnce(admin, REMEDY_OPERATION_JOBS, { name: metadata.name });
      }
    },
    machine,
  };

  async function report(name: string, status: 'True' | 'False'): Promise<void> {
    const lastHeartbeatTime = createSystemClock().now().toISOString();
    const conditions = [condition('Ready', 'True'), condition('FrequentTaskHung', status)];
    const body = { conditions: conditions.map((each) => ({ ...each, lastHeartbeatTime })) };
    await patchNodeStatus(admin, name, { ...body, nodeInfo: { bootID: 'boot-1' } });
  }
}
