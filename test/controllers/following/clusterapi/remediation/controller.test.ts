import { describe, expect, it } from 'vitest';
import type { KubenodeRemediation } from '../../../../../src/api/clusterapi/remediation.ts';
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import type { ForeignMachine } from '../../../../../src/controllers/following/clusterapi/contract.ts';
import { createClusterApiController } from '../../../../../src/controllers/following/clusterapi/controller.ts';
import { createRemediationController } from '../../../../../src/controllers/following/clusterapi/remediation/controller.ts';
import type { Client } from '../../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import { type Condition, conditionOf } from '../../../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../../src/sim/api-server/kinds.ts';
import { simulatedPolicy } from '../../../../../src/sim/policies.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../../../support/controller/bed.ts';
import { remedier } from '../../../../support/remediers.ts';
import { CLUSTER, theirNode, theirObject, theirs } from '../objects.ts';
import { RULE, request } from './requests.ts';

const CONTROLLER = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineSet',
  name: 's',
  uid: 's',
  controller: true,
};
const HANDED_OFF = { type: 'NeedsPerson', status: 'True', reason: 'HandedOff', message: 'job j: handed off' };

/** What Cluster API has: its Machine, and the requests of its health checks. */
class TheirCluster {
  readonly changed = new Set<() => void>();
  requests: readonly KubenodeRemediation[] | { readonly unreadable: string } | undefined = [];
  conditions: readonly object[] = [{ type: 'HealthCheckSucceeded', status: 'False' }];
  refuses = false;
  areMachinesRead = true;
  /** Machines whose Nodes are in another cluster. */
  others: readonly ForeignMachine[] = [];
  readonly writes: string[] = [];

  show(requests: TheirCluster['requests']): void {
    this.requests = requests;
    for (const tell of this.changed) tell();
  }

  get(resource: Resource): KubeObject {
    if (resource.group !== 'cluster.x-k8s.io') throw new KubeError('NotFound', 'none');
    const found = theirObject(1);
    const identity = { uid: 'uid-md-1', resourceVersion: '1', ownerReferences: [CONTROLLER] };
    return {
      ...found,
      metadata: { ...found.metadata, ...identity },
      status: { conditions: this.conditions },
    };
  }

  apply(resource: Resource, object: KubeObject): KubeObject {
    if (this.refuses) throw new KubeError('Conflict', 'another version');
    this.writes.push(`${resource.kind} ${object.metadata.name}`);
    const status = object['status'] as { readonly conditions: readonly Condition[] };
    if (resource.kind === 'Machine') this.conditions = [...this.conditions, ...status.conditions];
    else if (Array.isArray(this.requests)) {
      this.show(this.requests.map((each: KubenodeRemediation) => ({ ...each, status })));
    }
    return object;
  }
}

const KINDS = [MACHINES, NODES, NODE_REMEDIERS, REMEDY_OPERATION_JOBS, DEFENDER_POLICIES, DEFENDER_LEDGERS];

type Options = Parameters<typeof createControllerBed>[0];

function optionsFor(cluster: () => TheirCluster): Options {
  return {
    controllers: (client) => {
      const theirCluster = cluster();
      const follow = createClusterApiController({
        source: {
          open: () => () => {},
          read: () => ({ machines: [theirs(1), theirs(2)], clusters: [CLUSTER] }),
          list: async () => ({ machines: [theirs(1), theirs(2)], clusters: [CLUSTER] }),
        },
        client,
      });
      const remediation = createRemediationController({
        theirs: {
          open: () => () => {},
          read: () =>
            theirCluster.areMachinesRead
              ? { machines: [theirs(1), theirs(2), ...theirCluster.others], clusters: [CLUSTER] }
              : { unreadable: 'Forbidden' },
        },
        source: {
          open: (tell) => {
            theirCluster.changed.add(tell);
            tell();
            return () => theirCluster.changed.delete(tell);
          },
          read: () => theirCluster.requests,
        },
        client: {
          get: async (resource: Resource) => theirCluster.get(resource),
          apply: async (resource: Resource, object: KubeObject) => theirCluster.apply(resource, object),
        } as unknown as Pick<Client, 'get' | 'apply'>,
      });
      return [follow, remediation];
    },
    kinds: KINDS.map((kind) => servedKind(kind)),
    objects: [theirNode(1), theirNode(2), remedier({}, { name: RULE })],
  };
}

async function start(cluster: TheirCluster): Promise<ControllerBed> {
  const bed = createControllerBed(optionsFor(() => cluster));
  await bed.start();
  await bed.advance(3000);
  return bed;
}

function requestedOn(bed: ControllerBed, name: string): string {
  const found = conditionOf(bed.get<Machine>(MACHINES, name)?.status?.conditions, 'RemediationRequested');
  return `${found?.status} ${found?.reason}`;
}

/** As a job does that hands off. */
function handOff(bed: ControllerBed): void {
  const status = { conditions: [{ ...HANDED_OFF, lastTransitionTime: '2030-01-01T12:00:00Z' }] };
  const { apiVersion, kind } = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine' };
  bed.apply({ apiVersion, kind, metadata: { name: 'node-1' }, status }, 'status');
}

function statusOf({ requests }: TheirCluster): readonly string[] {
  const [found] = Array.isArray(requests) ? (requests as readonly KubenodeRemediation[]) : [];
  return (found?.status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

describe('the controller of requests of health checks', () => {
  it('CAP-09 tells rules on our Machine, and ends that with the request', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    expect([requestedOn(bed, 'node-1'), requestedOn(bed, 'node-2')]).toEqual([
      'False NotRequested',
      'False NotRequested',
    ]);
    bed.writes();
    cluster.show([request(1)]);
    await bed.advance(2000);
    expect([requestedOn(bed, 'node-1'), requestedOn(bed, 'node-2')]).toEqual([
      'True HealthCheckFailed',
      'False NotRequested',
    ]);
    expect(bed.writes()).toEqual(['apply Machine node-1 status']);
    expect(statusOf(cluster)).toEqual(['Repairing False RuleNotMatched', 'HandedBack False RepairsFirst']);
    expect(cluster.writes).toEqual(['KubenodeRemediation md-1']);
    cluster.show([]);
    await bed.advance(2000);
    expect(requestedOn(bed, 'node-1')).toBe('False NotRequested');
  });

  it('CAP-09 leaves the condition of our Machine as it is while requests cannot be read', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.show([request(1)]);
    await bed.advance(2000);
    bed.writes();
    cluster.show({ unreadable: 'removed' });
    await bed.advance(2000);
    cluster.show(undefined);
    await bed.advance(2000);
    cluster.show({ unreadable: 'removed' });
    await bed.advance(2000);
    expect([bed.writes(), requestedOn(bed, 'node-1')]).toEqual([[], 'True HealthCheckFailed']);
    const reports = bed.log.lines.filter(({ message }) => message.startsWith('remediation requests'));
    expect(reports.map(({ message, fields }) => [message, fields?.['because']])).toEqual([
      ['remediation requests are not read', 'removed'],
    ]);
  });

  it('CAP-10 hands back nothing whose Node is in another cluster, where another kubenode repairs it', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.others = [theirs(3)];
    cluster.show([request(3)]);
    await bed.advance(120_000);
    expect([cluster.writes, statusOf(cluster)]).toEqual([[], []]);
    // One that never had a Node is in no cluster: it is handed back, and this Cluster API does not have it.
    cluster.others = [theirs(3, { node: undefined })];
    cluster.show([request(3)]);
    await bed.advance(120_000);
    expect(statusOf(cluster)).toContain('HandedBack False OwnerNotFound');
  });

  it('CAP-10 answers nothing while their Machines cannot be read, and a machine whose Node was deleted as before', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.areMachinesRead = false;
    cluster.show([request(1)]);
    await bed.advance(2000);
    expect(cluster.writes).toEqual([]);
    bed.delete(NODES, 'node-1');
    await bed.advance(2000);
    cluster.areMachinesRead = true;
    cluster.show([request(1)]);
    await bed.advance(2000);
    expect(statusOf(cluster)).toContain('HandedBack False RepairsFirst');
  });

  it('CAP-10 hands back once when the ladder ended, and tells rules that nothing is asked any more', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.show([request(1)]);
    await bed.advance(2000);
    handOff(bed);
    await bed.advance(60_000);
    expect(statusOf(cluster)).toEqual(['Repairing False Ended', 'HandedBack True LadderEnded']);
    expect(cluster.writes.filter((each) => each === 'Machine md-1')).toHaveLength(1);
    expect(requestedOn(bed, 'node-1')).toBe('False HandedBack');
  });

  it('CAP-10 hands back nothing while a person has stopped repairs, and does so when the switch has ended', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    const { spec, ...policy } = simulatedPolicy({ isStopped: false, isFrozen: false, machines: 2 });
    const engage = (): void => {
      const until = new Date(+bed.clock.now() + 90_000).toISOString();
      const killSwitch = { engaged: true, scope: 'All', by: 'anna', reason: 'incident', until } as const;
      bed.apply({ ...policy, metadata: { name: 'fleet-default' }, spec: { ...spec, killSwitch } });
    };
    engage();
    cluster.show([request(1)]);
    handOff(bed);
    await bed.advance(60_000);
    expect(statusOf(cluster)).toEqual(['Repairing False KillSwitch', 'HandedBack False RepairsFirst']);
    await bed.advance(62_000);
    expect(statusOf(cluster)).toContain('HandedBack True LadderEnded');
  });

  it('CAP-10 asks again while the Machine may not be handed back, and judges the newest version of it', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    const unhealthy = cluster.conditions;
    cluster.conditions = [];
    cluster.show([request(1)]);
    handOff(bed);
    await bed.advance(5000);
    expect(statusOf(cluster)).toContain('HandedBack False Healthy');
    expect(cluster.writes).not.toContain('Machine md-1');
    cluster.conditions = unhealthy;
    cluster.refuses = true;
    await bed.advance(20_000);
    cluster.refuses = false;
    await bed.advance(60_000);
    expect(statusOf(cluster)).toContain('HandedBack True LadderEnded');
  });

  it('CAP-10 hands back no machine whose Machine of kubenode a person deletes: it is created again', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.show([request(1, { created: 600 })]);
    await bed.advance(2000);
    bed.delete(MACHINES, 'node-1');
    await bed.advance(70_000);
    expect(requestedOn(bed, 'node-1')).toBe('True HealthCheckFailed');
    expect(cluster.writes).not.toContain('Machine md-1');
  });

  it('CAP-10 hands back by time alone, with what kept the rule from acting', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.show([request(1, { created: 3590 })]);
    await bed.advance(5000);
    expect(statusOf(cluster)).toContain('HandedBack False RepairsFirst');
    await bed.advance(10_000);
    expect(statusOf(cluster)).toContain('HandedBack True TimedOut');
  });

  it('CAP-10 ends the same whichever write of our Machine the process was killed at', async () => {
    let cluster = new TheirCluster();
    cluster.requests = [request(1)];
    const writes = await sweepCrashes(
      optionsFor(() => cluster),
      (bed, crash) => {
        expect([crash, requestedOn(bed, 'node-1'), requestedOn(bed, 'node-2')]).toEqual([
          crash,
          'True HealthCheckFailed',
          'False NotRequested',
        ]);
        expect(statusOf(cluster)).toEqual([
          'Repairing False RuleNotMatched',
          'HandedBack False RepairsFirst',
        ]);
        cluster = new TheirCluster();
        cluster.requests = [request(1)];
      },
    );
    expect(writes).toBeGreaterThanOrEqual(4);
  });
});
