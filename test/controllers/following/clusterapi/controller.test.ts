import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD } from '../../../../src/api/names.ts';
import { createClusterApiController } from '../../../../src/controllers/following/clusterapi/controller.ts';
import type { ForeignSource } from '../../../../src/controllers/following/clusterapi/observe/foreign-source.ts';
import type { ForeignObjects } from '../../../../src/controllers/following/clusterapi/owner.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { ApiRefusal } from '../../../../src/sim/api-server/refusal.ts';
import { machine } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../../support/controller/bed.ts';
import { CLUSTER, theirNode, theirs } from './objects.ts';

type Shown = ForeignObjects | { readonly unreadable: string };

interface FollowBed extends ControllerBed {
  /** What the source shows, and what a list finds. Undefined: nothing was listed yet. */
  readonly show: (shown: Shown | undefined, listed?: ForeignObjects) => Promise<void>;
  readonly machine: (name: string) => Machine | undefined;
  readonly counts: Map<string, number>;
}

type Options = Parameters<typeof createControllerBed>[0];

function optionsFor(first: Shown | undefined): Options & {
  readonly follow: (bed: ControllerBed) => FollowBed;
} {
  let shown = first;
  let listed: ForeignObjects | undefined;
  const changed = new Set<() => void>();
  const counts = new Map<string, number>();
  const source: ForeignSource = {
    open: (tell) => {
      changed.add(tell);
      tell();
      return () => changed.delete(tell);
    },
    read: () => shown,
    list: async () => {
      const found = listed ?? shown;
      if (!found || 'unreadable' in found) throw new Error('they cannot be listed');
      return found;
    },
  };
  return {
    controllers: (client) => [
      createClusterApiController({
        source,
        client,
        gauge: { set: ({ state }, value) => void counts.set(state, value) },
      }),
    ],
    kinds: [servedKind(MACHINES), servedKind(NODES)],
    objects: [theirNode(1), theirNode(2)],
    follow: (bed) => ({
      ...bed,
      counts,
      machine: (name) => bed.get<Machine>(MACHINES, name),
      show: async (next, found) => {
        [shown, listed] = [next, found];
        for (const tell of changed) tell();
        await bed.advance(2000);
      },
    }),
  };
}

async function start(first: Shown | undefined): Promise<FollowBed> {
  const options = optionsFor(first);
  const bed = options.follow(createControllerBed(options));
  await bed.start();
  await bed.advance(2000);
  return bed;
}

const BOTH: ForeignObjects = { machines: [theirs(1), theirs(2)], clusters: [CLUSTER] };
const NONE: ForeignObjects = { machines: [], clusters: [] };

describe('the controller that follows Cluster API', () => {
  it('CAP-01 creates, changes and deletes Machines as theirs are, and writes nothing twice', async () => {
    const bed = await start(BOTH);
    expect(bed.writes()).toEqual(['apply Machine node-1', 'apply Machine node-2']);
    expect(bed.machine('node-1')?.spec.infra).toEqual({
      provider: 'clusterapi',
      config: { namespace: 'fleet', name: 'md-1', providerID: 'inst://1' },
    });
    const paused = { ...BOTH, clusters: [{ ...CLUSTER, isPaused: true }] };
    await bed.show(paused);
    await bed.show(paused);
    expect(bed.writes()).toEqual(['apply Machine node-1', 'apply Machine node-2']);
    expect(bed.machine('node-1')?.metadata.annotations?.[ANNOTATION_OWNER_HOLD]).toMatch(/^ClusterPaused: /);
    await bed.show({ ...BOTH, machines: [theirs(2, { labels: {} })] });
    expect(bed.writes().toSorted()).toEqual(['apply Machine node-2', 'delete Machine node-1']);
    const { annotations = {}, labels = {} } = bed.machine('node-2')?.metadata ?? {};
    expect([annotations, labels]).toEqual([{}, {}]);
  });

  it('CAP-02 does nothing before the first list, and deletes nothing while theirs cannot be read', async () => {
    const bed = await start(undefined);
    expect(bed.writes()).toEqual([]);
    await bed.show(BOTH);
    bed.writes();
    await bed.show({ unreadable: 'removed' });
    await bed.show({ unreadable: 'removed' });
    expect(bed.writes()).toEqual(['apply Machine node-1', 'apply Machine node-2']);
    expect(bed.machine('node-1')?.metadata.annotations?.[ANNOTATION_OWNER_HOLD]).toBe('NotObserved: removed');
    const reports = bed.log.lines.filter((line) => JSON.stringify(line).includes('cluster api is not read'));
    expect(reports).toHaveLength(1);
  });

  it('CAP-02 deletes nothing that a list still finds', async () => {
    const bed = await start(BOTH);
    bed.writes();
    await bed.show(NONE, BOTH);
    expect(bed.writes()).toEqual([]);
    await bed.show(NONE);
    expect(bed.writes().toSorted()).toEqual(['delete Machine node-1', 'delete Machine node-2']);
  });

  it('CAP-02 keeps Machines whose objects are being moved, which Cluster API pauses for that, and has them go after it', async () => {
    const labeled = theirs(1, { labels: { 'cluster.x-k8s.io/cluster-name': 'c' } });
    const bed = await start({ machines: [labeled], clusters: [CLUSTER] });
    bed.writes();
    await bed.show({ machines: [], clusters: [{ ...CLUSTER, isPaused: true }] });
    expect(bed.writes()).toEqual(['apply Machine node-1']);
    expect(bed.machine('node-1')?.metadata.annotations?.[ANNOTATION_OWNER_HOLD]).toMatch(
      /^ClusterPaused: .* its Machine was not found$/,
    );
    await bed.show({ machines: [], clusters: [CLUSTER] });
    expect(bed.writes()).toEqual(['delete Machine node-1']);
  });

  it('CAP-02 leaves the Machine of a person alone, counts it and reports it once', async () => {
    const bed = await start(undefined);
    const { metadata: _, status: __, ...rest } = machine('node-1');
    bed.apply({ ...rest, metadata: { name: 'node-1' } });
    await bed.show(BOTH);
    await bed.show(BOTH);
    expect(bed.writes()).toEqual(['apply Machine node-2']);
    expect(Object.fromEntries(bed.counts)).toEqual({ Followed: 1, Waiting: 0, Refused: 1 });
    const reports = bed.log.lines.filter((line) => JSON.stringify(line).includes('machine not followed'));
    expect(reports).toHaveLength(1);
    await bed.show(NONE);
    expect(bed.writes()).toEqual(['delete Machine node-2']);
  });

  it('CAP-01 creates again what a person deletes, and follows the others when one write is refused', async () => {
    const bed = await start(undefined);
    bed.api.refuse(/apply Machine node-1/, new ApiRefusal(403, 'Forbidden', 'no'));
    await bed.show(BOTH);
    expect(bed.writes()).toEqual(
      expect.arrayContaining(['apply Machine node-1 -> 403', 'apply Machine node-2', 'apply Machine node-1']),
    );
    bed.delete(MACHINES, 'node-2');
    await bed.advance(2000);
    expect(bed.writes()).toEqual(['apply Machine node-2']);
  });

  it('CAP-01 ends the same whichever write the process was killed at', async () => {
    const writes = await sweepCrashes(optionsFor(BOTH), (bed, crash) => {
      const found = ['node-1', 'node-2'].map(
        (name) => bed.get<Machine>(MACHINES, name)?.spec.infra.config['name'],
      );
      expect([crash, ...found]).toEqual([crash, 'md-1', 'md-2']);
    });
    expect(writes).toBe(2);
  });
});
