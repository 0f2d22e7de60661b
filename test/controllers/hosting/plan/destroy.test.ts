import { describe, expect, it } from 'vitest';
import { MEMBERS } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planDestroy } from '../../../../src/controllers/hosting/plan/destroy.ts';
import { ago } from '../../../support/builders.ts';
import {
  decisionText,
  type HostedParts,
  hostingInput,
  INSIDE,
  type InputParts,
  members,
  NOTHING,
  stoppedMember,
} from '../../../support/hosting/objects.ts';

const READY = {
  status: {
    conditions: [],
    hosted: { readyAt: ago(900) },
    machines: { total: 7, ready: 7, upToDate: 7, failed: 0 },
  },
};
const GONE = { secret: 'Absent' } as const;
const DEAD = { ...GONE, inside: undefined };
const STOPPED = { state: 'Stopped', starts: [] } as const;
const LEFT = { ...GONE, inside: { ...INSIDE, machines: ['m-1', 'm-2'] } };

function deletedFor(seconds: number, deletion: HostedParts['deletion'] = {}): HostedParts {
  return { ...READY, metadata: { deletionTimestamp: ago(seconds) }, deletion };
}

describe('the plan of a control plane that is destroyed', () => {
  it.each<readonly [string, InputParts, string]>([
    [
      'it was never created',
      { plane: NOTHING, input: GONE },
      'RemoveFinalizer: no control plane of it is here',
    ],
    [
      'its folder is of another Cluster',
      { plane: { ...NOTHING, claim: 'Other' }, input: GONE },
      'RemoveFinalizer: no control plane of it is here',
    ],
    ['only its Secret is left', { plane: NOTHING }, 'DeleteSecret: its Cluster is being deleted'],
    [
      'the Secret is of others',
      { ...deletedFor(1), input: { secret: 'Foreign' } },
      'BeginDestroy: it has no Machines',
    ],
    ['sync has a kubeconfig', deletedFor(1), 'DeleteSecret: its Cluster is being deleted'],
    ['it has no Machines', { ...deletedFor(1), input: GONE }, 'BeginDestroy: it has no Machines'],
    [
      'its sets want machines',
      {
        ...deletedFor(1),
        input: { ...GONE, inside: { ...INSIDE, machines: ['m-1'], machineSets: ['web', 'db'] } },
      },
      'ScaleDown: machines go before their control plane: web, db',
    ],
    ['machines are left', { ...deletedFor(1), input: LEFT }, 'wait MachinesLeft'],
    ['machines are left for too long', { ...deletedFor(1801), input: LEFT }, 'stalled MachinesLeft'],
    [
      'force is set and the time is not over',
      { ...deletedFor(1, { force: true }), input: LEFT },
      'wait MachinesLeft',
    ],
    [
      'force is set and the time is over',
      { ...deletedFor(61, { force: true, timeoutSeconds: 60 }), input: LEFT },
      'BeginDestroy: spec.deletion.force is set: left behind are m-1, m-2',
    ],
    [
      'it was never ready',
      { metadata: { deletionTimestamp: ago(1) }, input: DEAD },
      'BeginDestroy: it has never been ready',
    ],
    [
      'its API server is down',
      { ...deletedFor(1), plane: { members: members({ 'kube-apiserver': STOPPED }) }, input: DEAD },
      'Start kube-apiserver: it is not running',
    ],
    ['its API server stays down', { ...deletedFor(1801), input: DEAD }, 'stalled ApiNotAnswering'],
    [
      'its API server is down and force is set',
      { ...deletedFor(1, { force: true }), input: DEAD },
      'BeginDestroy: its API server does not answer, and spec.deletion.force is set: it had 7 Machines at the last contact',
    ],
    [
      'the policy is Orphan',
      { ...deletedFor(1, { policy: 'Orphan' }), input: GONE },
      'RemoveFinalizer: spec.deletion.policy is Orphan: it is left running in /hosting/clusters/ci',
    ],
    [
      'the policy is Orphan, and other machines reach it',
      {
        ...deletedFor(1, { policy: 'Orphan' }),
        plane: { outside: { host: 'ci.example.com', port: 6443 } },
        input: GONE,
      },
      'RemoveFinalizer: spec.deletion.policy is Orphan: it is left running in /hosting/clusters/ci, and other machines reach it at https://ci.example.com:6443',
    ],
    [
      'it was begun, with the policy Orphan set later',
      { ...deletedFor(1, { policy: 'Orphan' }), plane: { isDestroying: true }, input: DEAD },
      'Stop kubenode-controllers: the control plane is being destroyed',
    ],
    [
      'it was begun',
      {
        ...deletedFor(1),
        plane: { isDestroying: true, members: members({ 'kubenode-controllers': STOPPED }) },
        input: DEAD,
      },
      'Stop kube-scheduler: the control plane is being destroyed',
    ],
    [
      'no member runs',
      {
        ...deletedFor(1),
        plane: { isDestroying: true, members: MEMBERS.map((member) => stoppedMember(member)) },
        input: DEAD,
      },
      'Remove: no member runs',
    ],
  ])('when %s', (_, parts, expected) => {
    expect(decisionText(planDestroy(hostingInput(parts)))).toBe(expected);
  });

  it.each<readonly [string, InputParts]>([
    ['sync loses its kubeconfig', deletedFor(1)],
    ['it begins', { ...deletedFor(1), input: GONE }],
    [
      'machines are released',
      {
        ...deletedFor(1),
        input: { ...GONE, inside: { ...INSIDE, machines: ['m-1'], machineSets: ['web'] } },
      },
    ],
    ['a member is stopped', { ...deletedFor(1), plane: { isDestroying: true }, input: DEAD }],
    [
      'everything is removed',
      {
        ...deletedFor(1),
        plane: { isDestroying: true, members: MEMBERS.map((member) => stoppedMember(member)) },
        input: DEAD,
      },
    ],
  ])('is held by the kill switch before %s', (_, parts) => {
    const held = { ...parts, input: { ...parts.input, halt: 'ann: incident' } };
    expect(decisionText(planDestroy(hostingInput(held)))).toBe('wait KillSwitch');
  });
});
