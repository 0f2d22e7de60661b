/** A partition and a spread on a real API server, with `kubenode controllers` and agents on hosts in memory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateOf, type RolloutFleet, startRolloutFleet } from '../rollout-fleet.ts';
import { judgeRollout } from '../rollout-problems.ts';

describe('a component set with a partition', () => {
  let fleet: RolloutFleet;

  beforeAll(async () => {
    fleet = await startRolloutFleet();
  });
  afterAll(() => fleet?.stop());

  it('ROL-04 keeps its machines at the old version until it is lowered, and updates one machine of a domain at a time', async () => {
    const names = await fleet.pool('part', 5);
    // No machine has the label: they are one domain.
    const spread = { labelKey: 'example.com/rack', max: 1 };
    const rollout = { batches: [1, 5], maxUnavailable: 5, gate: gateOf(1), spread };
    await fleet.declare('part', '2.0', { rollout: { ...rollout, partition: '40%' } });
    const held = await fleet.setIs('part', 'held', ({ waiting }) => waiting?.reason === 'HeldByPartition');
    expect(held.waiting?.message).toBe('2 machines held by partition');
    const versions = Object.values(await fleet.versions('part'));
    expect(versions.filter((each) => each === 'part-2.0')).toHaveLength(3);
    expect(versions.filter((each) => each === 'part-1.0')).toHaveLength(2);

    await fleet.declare('part', '2.0', { rollout: { ...rollout, partition: 0 } });
    const { currentRevision = '' } = await fleet.completed('part');
    const judged = await judgeRollout(fleet.history, 'part', currentRevision);
    expect(judged.problems).toEqual([]);
    expect(judged.machines.toSorted()).toEqual(names.toSorted());
    expect(judged).toMatchObject({ sizes: [1, 2, 2], mostOutOfService: 1 });
  });
});
