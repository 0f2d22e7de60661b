import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD } from '../../../../src/api/names.ts';
import { createNodeGroupController } from '../../../../src/controllers/following/nodegroup/controller.ts';
import type { FollowGauge } from '../../../../src/controllers/following/status.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { machine } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../../support/controller/bed.ts';
import { groupNodeObject, WORKERS } from './nodes.ts';

type BedOptions = Parameters<typeof createControllerBed>[0];

function optionsFor(objects: readonly KubeObject[], gauge?: FollowGauge): BedOptions {
  return {
    controllers: (client) => [createNodeGroupController({ selector: WORKERS, client, gauge })],
    kinds: [servedKind(MACHINES), servedKind(NODES)],
    objects: [...objects],
  };
}

async function start(...objects: readonly KubeObject[]): Promise<ControllerBed> {
  const bed = createControllerBed(optionsFor(objects));
  await bed.start();
  await bed.advance(2000);
  return bed;
}

async function put(bed: ControllerBed, object: KubeObject): Promise<void> {
  bed.apply(object);
  await bed.advance(2000);
}

function holdOf(bed: ControllerBed, name: string): string | undefined {
  return bed.get<Machine>(MACHINES, name)?.metadata.annotations?.[ANNOTATION_OWNER_HOLD];
}

/** A Machine as a person or a set created it. */
function foreignMachine(name: string): KubeObject {
  const { metadata: _, status: __, ...rest } = machine(name);
  return { ...rest, metadata: { name } };
}

describe('the controller that follows Nodes of node groups', () => {
  it('CAP-16 creates, changes and deletes Machines as Nodes are, and writes nothing twice', async () => {
    const bed = await start(groupNodeObject(1), groupNodeObject(2), groupNodeObject(3, { labels: {} }));
    expect(bed.writes().toSorted()).toEqual(['apply Machine node-1', 'apply Machine node-2']);
    expect(bed.get<Machine>(MACHINES, 'node-1')).toMatchObject({
      metadata: { labels: { group: 'workers' } },
      spec: {
        zone: 'zone-a',
        infra: { provider: 'external', config: { kind: 'Node', name: 'node-1', providerID: 'inst://1' } },
      },
    });
    await put(bed, groupNodeObject(2, { labels: { group: 'workers', tier: 'gpu' } }));
    expect(bed.writes()).toEqual(['apply Machine node-2']);
    bed.delete(NODES, 'node-1');
    await bed.advance(2000);
    expect(bed.writes()).toEqual(['delete Machine node-1']);
    bed.delete(MACHINES, 'node-2');
    await bed.advance(2000);
    expect(bed.writes()).toEqual(['apply Machine node-2']);
  });

  it('CAP-16 waits for the provider ID, and reports Nodes by what they wait for', async () => {
    const counts = new Map<string, number>();
    const gauge: FollowGauge = { set: ({ state }, value) => void counts.set(state, value) };
    const nodes = [groupNodeObject(1, { providerID: '' }), groupNodeObject(2, { labels: {} })];
    const bed = createControllerBed(optionsFor(nodes, gauge));
    await bed.start();
    await bed.advance(2000);
    expect(bed.writes()).toEqual([]);
    expect(Object.fromEntries(counts)).toEqual({ Followed: 0, Waiting: 1, Refused: 0 });
    await put(bed, groupNodeObject(1));
    expect(bed.writes()).toEqual(['apply Machine node-1']);
    expect(Object.fromEntries(counts)).toEqual({ Followed: 1, Waiting: 0, Refused: 0 });
  });

  it('CAP-16 holds the machine by the taint of cluster-autoscaler, and ends the hold with it', async () => {
    const bed = await start(groupNodeObject(1));
    expect(holdOf(bed, 'node-1')).toBeUndefined();
    await put(bed, groupNodeObject(1, { taint: 'DeletionCandidateOfClusterAutoscaler' }));
    expect(holdOf(bed, 'node-1')).toBeUndefined();
    await put(bed, groupNodeObject(1, { taint: 'ToBeDeletedByClusterAutoscaler' }));
    expect(holdOf(bed, 'node-1')).toMatch(/^NodeToBeDeleted: Node node-1 /);
    await put(bed, groupNodeObject(1));
    expect(holdOf(bed, 'node-1')).toBeUndefined();
  });

  it('CAP-16 keeps and holds the Machine of a Node without its labels, also when they were removed while no process ran', async () => {
    const bed = createControllerBed(optionsFor([groupNodeObject(1)]));
    const first = await bed.start();
    await bed.advance(2000);
    await first.kill();
    bed.apply(groupNodeObject(1, { labels: {} }));
    await bed.start();
    await bed.advance(2000);
    expect(holdOf(bed, 'node-1')).toMatch(/^NotSelected: /);
    expect(bed.writes()).toEqual(['apply Machine node-1', 'apply Machine node-1']);
    await put(bed, groupNodeObject(1));
    expect(holdOf(bed, 'node-1')).toBeUndefined();
  });

  it('CAP-16 takes over no Machine of a set, an import or a person, also when their Node is deleted', async () => {
    const bed = await start(foreignMachine('node-1'), groupNodeObject(1));
    bed.delete(NODES, 'node-1');
    await bed.advance(2000);
    expect(bed.writes()).toEqual([]);
    expect(bed.get<Machine>(MACHINES, 'node-1')?.spec.infra.provider).toBe('local');
    expect(bed.log.lines.filter(({ message }) => message === 'machine not followed')).toEqual([]);
  });

  it('CAP-16 ends the same whichever write the process was killed at', async () => {
    const options = optionsFor([groupNodeObject(1), groupNodeObject(2)]);
    const writes = await sweepCrashes(options, (bed, crash) => {
      const found = ['node-1', 'node-2'].map(
        (name) => bed.get<Machine>(MACHINES, name)?.spec.infra.config['name'],
      );
      expect([crash, ...found]).toEqual([crash, 'node-1', 'node-2']);
    });
    expect(writes).toBe(2);
  });
});
