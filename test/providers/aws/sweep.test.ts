/** The sweep of orphan instances, with the instances of a moto server. */
import { expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { orphanInstanceKey } from '../../../src/api/grants.ts';
import { createSweepMemory, sweepProvider } from '../../../src/controllers/orphansweep/execute/execute.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { machine, NOW } from '../../support/builders.ts';
import { type MemoryGrants, memoryGrants } from '../../support/memory-grants.ts';
import { CLUSTER, NEVER, OTHER_CLUSTER, requestOf } from '../contract/harness.ts';
import { describeOnMoto, SHAPE } from './on-moto.ts';

const APART_MS = 600_000;

interface Sweeper {
  readonly grants: MemoryGrants;
  /** Sweeps as a reconcile does, ten minutes after the one before. */
  readonly sweep: () => Promise<void>;
}

/** A cluster whose Machines are these. */
function createSweeper(provider: Provider, machines: readonly Machine[]): Sweeper {
  const memory = createSweepMemory();
  const grants = memoryGrants({ now: () => NOW });
  let elapsedMs = 0;
  const context = {
    signal: NEVER,
    clock: { now: () => NOW, monotonicMs: () => elapsedMs },
    view: (resource: unknown) => ({
      list: () => (resource === MACHINES ? machines : []),
      get: () => undefined,
    }),
    event: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
  } as unknown as ReconcileContext;
  const client = {
    async *pages() {
      yield { items: machines, resourceVersion: '1' };
    },
    get: () => Promise.reject(new KubeError('NotFound', 'not found')),
  } as unknown as Parameters<typeof sweepProvider>[2]['client'];
  const reports = { reported: new Map<string, string>(), listFailures: new Map<string, string>() };
  return {
    grants,
    async sweep() {
      await sweepProvider(provider, memory, { client, grants, clusterUid: CLUSTER, reports, context });
      elapsedMs += APART_MS;
    },
  };
}

describeOnMoto('the sweep of orphan instances of aws', (open) => {
  it('MAC-36 deletes the instance that no Machine has, once it was listed twice, and no other', async () => {
    const { provider } = await open();
    const [kept, lost, other] = [
      requestOf(SHAPE, { machine: 'kept' }),
      requestOf(SHAPE, { machine: 'lost' }),
      requestOf(SHAPE, { machine: 'other', clusterUid: OTHER_CLUSTER }),
    ];
    const [keptId, lostId, otherId] = [
      await provider.create(kept, NEVER),
      await provider.create(lost, NEVER),
      await provider.create(other, NEVER),
    ];
    const { sweep, grants } = createSweeper(provider, [machineOf(kept.tags.machineUid)]);
    await sweep();
    expect(await provider.get(lostId, NEVER)).toMatchObject({ state: 'Running' });
    await sweep();
    expect(await provider.get(lostId, NEVER)).toBeUndefined();
    expect(grants.settled).toEqual([
      `g-1 DeleteInstance ${orphanInstanceKey(lost.tags.machineUid)}: Succeeded`,
    ]);
    await sweep();
    for (const id of [keptId, otherId]) {
      expect(await provider.get(id, NEVER)).toMatchObject({ state: 'Running' });
    }
    expect(grants.settled).toHaveLength(1);
  });

  it('MAC-36 settles the grant of a deletion whose answer was lost, in the next sweep', async () => {
    const bed = await open();
    const { provider } = bed;
    const { tags } = requestOf(SHAPE);
    const id = await provider.create({ ...requestOf(SHAPE), tags }, NEVER);
    const { sweep, grants } = createSweeper(provider, [machineOf('00000000-0000-4000-8000-00000000000b')]);
    await sweep();
    await bed.inject('AnswerLost', 'delete');
    await sweep();
    expect(grants.settled).toEqual([]);
    await sweep();
    expect(await provider.get(id, NEVER)).toBeUndefined();
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${orphanInstanceKey(tags.machineUid)}: Succeeded`]);
  });
});

function machineOf(uid: string): Machine {
  return machine('kept', { metadata: { uid }, spec: { infra: { provider: 'aws', config: SHAPE.config } } });
}
