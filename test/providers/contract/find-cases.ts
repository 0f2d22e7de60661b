/** Lists of instances by their tags. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OpenCase } from './case.ts';
import { CLUSTER, NEVER, OTHER_CLUSTER } from './harness.ts';

export function describeFind(open: OpenCase): void {
  describe('finds', () => {
    it('nothing where nothing was created', async () => {
      expect(await open().provider.find({ clusterUid: CLUSTER }, NEVER)).toEqual([]);
    });

    it('an instance by the UID of its Machine, as it gets it', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.create();
      const found = await one.provider.find({ clusterUid: CLUSTER, machineUid: uid }, NEVER);
      expect(found).toEqual([await one.provider.get(id, NEVER)]);
    });

    it('all instances of its cluster, in the order of their ids', async () => {
      const one = open();
      const ids = [await one.create(), await one.create({ set: 'a' }), await one.create()].map(
        ({ id }) => id,
      );
      const found = await one.provider.find({ clusterUid: CLUSTER }, NEVER);
      expect(found.map(({ id }) => id)).toEqual(ids.toSorted());
    });

    it('only instances of its cluster', async () => {
      const one = open();
      const { id } = await one.create({ clusterUid: OTHER_CLUSTER });
      expect(await one.provider.find({ clusterUid: CLUSTER }, NEVER)).toEqual([]);
      const found = await one.provider.find({ clusterUid: OTHER_CLUSTER }, NEVER);
      expect(found.map((each) => each.id)).toEqual([id]);
    });

    it('no instance of another cluster by the UID of its Machine', async () => {
      const one = open();
      const { uid } = await one.create({ clusterUid: OTHER_CLUSTER });
      expect(await one.provider.find({ clusterUid: CLUSTER, machineUid: uid }, NEVER)).toEqual([]);
    });

    it('the instances of a set', async () => {
      const one = open();
      const { id } = await one.create({ set: 'a' });
      await one.create({ set: 'b' });
      await one.create();
      const found = await one.provider.find({ clusterUid: CLUSTER, set: 'a' }, NEVER);
      expect(found.map((each) => each.id)).toEqual([id]);
    });

    it('nothing when only one of two tags is right', async () => {
      const one = open();
      const { uid } = await one.create({ set: 'a' });
      expect(await one.provider.find({ clusterUid: CLUSTER, machineUid: uid, set: 'b' }, NEVER)).toEqual([]);
    });

    it.each(['', '..', '../..', '%', 'no-uid', randomUUID()])(
      'nothing for the UID %j',
      async (machineUid) => {
        const one = open();
        await one.create();
        expect(await one.provider.find({ clusterUid: CLUSTER, machineUid }, NEVER)).toEqual([]);
      },
    );

    it('the instance whose answer was lost, from another process', async () => {
      const one = open();
      const { id, uid } = await one.create();
      const other = await one.harness.reopen();
      const found = await other.find({ clusterUid: CLUSTER, machineUid: uid }, NEVER);
      expect(found.map((each) => each.id)).toEqual([id]);
    });

    it('what is left while instances come and go', async () => {
      const one = open();
      const { id } = await one.create();
      const deleted = await one.create();
      const [found] = await Promise.all([
        one.provider.find({ clusterUid: CLUSTER }, NEVER),
        one.provider.delete(deleted.id, NEVER),
      ]);
      expect(found.map((each) => each.id)).toContain(id);
    });
  });
}
