import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { certainPlan } from '../../../src/controllers/following/certain-plan.ts';
import {
  CLUSTER_API,
  type MachineOfCluster,
  machinesOfClusters,
} from '../../../src/controllers/following/clusterapi/owner.ts';
import { planFollow } from '../../../src/controllers/following/plan.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { fakeContext } from '../../support/controller/fake-context.ts';
import { CLUSTER, ours, theirNode, theirs } from './clusterapi/objects.ts';

interface Case {
  readonly theirs: readonly number[];
  readonly machines: readonly Machine[];
  /** What the API server has now. */
  readonly listed: { readonly theirs: readonly number[]; readonly machines: readonly Machine[] };
}

function theirsOf(numbers: readonly number[]): readonly MachineOfCluster[] {
  return machinesOfClusters({ machines: numbers.map((n) => theirs(n)), clusters: [CLUSTER] });
}

async function planned(
  given: Case,
): Promise<{ readonly actions: readonly string[]; readonly lists: string }> {
  const lists: string[] = [];
  const observed = {
    theirs: theirsOf(given.theirs),
    machines: given.machines,
    nodeOf: (name: string) => theirNode(Number(name.replace('node-', ''))),
  };
  const source = {
    open: () => () => undefined,
    read: () => observed.theirs,
    list: async () => {
      lists.push('theirs');
      return theirsOf(given.listed.theirs);
    },
  };
  const client = {
    pages: async function* () {
      lists.push('ours');
      yield { items: given.listed.machines };
    },
  } as unknown as Pick<Client, 'pages'>;
  const nodes = [1, 2, 9].map((n) => theirNode(n));
  const { context } = fakeContext({ objects: { Node: nodes } });
  const plan = planFollow(observed, CLUSTER_API);
  const { actions } = await certainPlan(plan, { source, client, owner: CLUSTER_API, observed }, context);
  const names = actions.map((each) =>
    each.type === 'Delete' ? each.machine.metadata.name : each.desired.name,
  );
  return { actions: actions.map(({ type }, index) => `${type} ${names[index]}`), lists: lists.join(' ') };
}

describe('certainPlan', () => {
  it('CAP-02 lists nothing for a change', async () => {
    const changed = ours(1, { hold: 'ClusterPaused: it was' });
    const listed = { theirs: [], machines: [] };
    expect(await planned({ theirs: [1], machines: [changed], listed })).toEqual({
      actions: ['Update node-1'],
      lists: '',
    });
  });

  it('CAP-02 lists our Machines before one is created, and deletes none for which theirs were not listed', async () => {
    const listed = { theirs: [1, 9], machines: [ours(9)] };
    expect(await planned({ theirs: [1], machines: [], listed })).toEqual({
      actions: ['Create node-1'],
      lists: 'ours',
    });
    const created = { theirs: [1], machines: [ours(1)] };
    expect((await planned({ theirs: [1], machines: [], listed: created })).actions).not.toContain(
      'Create node-1',
    );
  });

  it('CAP-02 lists both before one is deleted', async () => {
    const missing = { theirs: [], machines: [ours(1)] };
    expect(await planned({ theirs: [], machines: [ours(1)], listed: missing })).toEqual({
      actions: ['Delete node-1'],
      lists: 'ours theirs',
    });
    const back = { theirs: [1], machines: [ours(1)] };
    expect((await planned({ theirs: [], machines: [ours(1)], listed: back })).actions).not.toContain(
      'Delete node-1',
    );
  });
});
