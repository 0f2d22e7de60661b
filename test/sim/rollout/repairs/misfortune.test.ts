import { describe, expect, it } from 'vitest';
import { MACHINES, NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../../../src/api/generated/resources.ts';
import { createCheckedRules } from '../../../../src/controllers/remedy/checked-rules.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import { stepHost } from '../../../../src/sim/rollout/hosts.ts';
import {
  befallRepairs,
  calmRepairs,
  createRules,
  lookAfterNodes,
  stepFaults,
} from '../../../../src/sim/rollout/repairs/misfortune.ts';
import { isUnschedulable } from '../../../../src/sim/rollout/repairs/unschedulable.ts';
import { createHospital, type Hospital, jobOn } from './hospital.ts';

const EVENTS: Readonly<Record<string, (hospital: Hospital) => boolean>> = {
  ill: ({ context }) => [...context.patients.values()].some(({ illness }) => illness),
  dark: ({ context }) =>
    [...context.hosts.values()].filter(({ silentUntilMs }) => silentUntilMs > context.nowMs()).length > 1,
  cordoned: ({ context }) => context.api.list(NODES).some(isUnschedulable),
  replaced: ({ context }) => context.api.list(NODES).length < context.hosts.size,
  cancelled: ({ context }) => context.api.list(REMEDY_OPERATION_JOBS).some(({ spec }) => spec.cancel),
  deleted: ({ context }) =>
    context.api.list(REMEDY_OPERATION_JOBS).some(({ metadata }) => metadata.deletionTimestamp),
};

function statusOn(hospital: Hospital, name: string, type: string): string | undefined {
  const { api } = hospital.context;
  const conditions = [
    ...(api.get(MACHINES, name)?.status?.conditions ?? []),
    ...((api.get(NODES, name)?.['status'] as { conditions?: { type: string; status: string }[] })
      ?.conditions ?? []),
  ];
  return conditions.find((each) => each.type === type)?.status;
}

describe('createRules', () => {
  it('writes rules that the controller of rules accepts', async () => {
    const { context } = createHospital();
    createRules(context);
    const rules = context.api.list(NODE_REMEDIERS);
    const checked = await Promise.all(rules.map((rule) => createCheckedRules().check(rule)));
    expect(checked.map(({ problems }) => problems)).toEqual([[], [], []]);
  });
});

describe('befallRepairs', () => {
  it('lets everything happen sooner or later', () => {
    const hospital = createHospital();
    const { context } = hospital;
    for (const name of context.hosts.keys()) context.api.put(jobOn(hospital, name));
    const found = new Set<string>();
    for (let step = 0; step < 10_000; step += 1) {
      befallRepairs(context);
      for (const [name, holds] of Object.entries(EVENTS)) if (holds(hospital)) found.add(name);
    }
    expect([...found].toSorted()).toEqual(Object.keys(EVENTS).toSorted());
  });
});

describe('stepFaults', () => {
  it('reports a fault while it lasts, and nothing new from a host that is cut off', () => {
    const hospital = createHospital();
    const { context, host, patient } = hospital;
    patient.illness = { fault: 'hung', cure: 'Person', endsMs: 1e15 };
    stepFaults(host, context);
    expect(statusOn(hospital, host.name, 'FrequentTaskHung')).toBe('True');
    expect(statusOn(hospital, host.name, 'NetworkUnavailable')).toBe('False');
    calmRepairs(context);
    Object.assign(host, { silentUntilMs: 1e15 });
    stepFaults(host, context);
    expect(statusOn(hospital, host.name, 'FrequentTaskHung')).toBe('True');
    Object.assign(host, { silentUntilMs: 0 });
    stepFaults(host, context);
    expect(statusOn(hospital, host.name, 'FrequentTaskHung')).toBe('False');
  });

  it('keeps the report on the Node when its kubelet writes again', () => {
    const hospital = createHospital();
    const { context, host, patient } = hospital;
    patient.illness = { fault: 'network', cure: 'Reboot', endsMs: 1e15 };
    stepFaults(host, context);
    Object.assign(host, { notReadyUntilMs: 1e15 });
    stepHost(host, { ...context, version: () => ({ behaviorOn: () => 'Good', needsDrain: false }) });
    expect(statusOn(hospital, host.name, 'NetworkUnavailable')).toBe('True');
    expect(statusOn(hospital, host.name, 'Ready')).toBe('False');
  });
});

describe('lookAfterNodes', () => {
  it('uncordons what is a person’s, and not what a job has cordoned', () => {
    const { context } = createHospital();
    const { api, judge } = context;
    const [first, second] = api.list(NODES);
    if (!first || !second) throw new Error('there are Nodes');
    judge.byPerson(() => api.put({ ...first, spec: { unschedulable: true } }));
    const annotations = { 'kubenode.dev/cordoned-by': 'g-1' };
    api.put({ ...second, metadata: { ...second.metadata, annotations }, spec: { unschedulable: true } });
    lookAfterNodes(context);
    expect(
      api
        .list(NODES)
        .filter(isUnschedulable)
        .map(({ metadata }) => metadata.name),
    ).toEqual([second.metadata.name]);
  });

  it('cordons a Node again whose drain waits because a person has uncordoned it', () => {
    const { context } = createHospital();
    const { api } = context;
    const [first] = api.list(MACHINES);
    if (!first) throw new Error('there are Machines');
    const since = new Date(context.nowMs()).toISOString();
    const waiting = { reason: 'UncordonedByPerson', since };
    api.put({ ...first, status: { conditions: [], components: [], ...first.status, waiting } });
    lookAfterNodes(context);
    const cordoned = api.list(NODES).filter(isUnschedulable);
    expect(cordoned.map(({ metadata }) => metadata.name)).toEqual([first.metadata.name]);
  });
});
