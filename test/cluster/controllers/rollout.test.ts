/** Component sets on a real API server: `kubenode controllers`, agents on hosts in memory, and what the watches of a third party saw. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { eventsAbout } from '../agent/machine-events.ts';
import { MINUTES, PATIENCE } from './machine-cluster.ts';
import { gateOf, type RolloutFleet, type SetStatus, startRolloutFleet } from './rollout-fleet.ts';
import type { MachineStart } from './rollout-history.ts';
import { judgeRollout } from './rollout-problems.ts';

describe('a component set', { timeout: MINUTES }, () => {
  let fleet: RolloutFleet;

  beforeAll(async () => {
    fleet = await startRolloutFleet();
  }, MINUTES);
  afterAll(() => fleet?.stop(), MINUTES);

  it('ROL-01 rolls a version out in exact batches, each after the gate of the one before, with a grant for each machine', async () => {
    const names = await fleet.pool('wide', 16);
    const rollout = { batches: [1, 5, 10], maxUnavailable: 3, gate: gateOf(2) };
    await fleet.declare('wide', '2.0', { rollout });
    const { currentRevision = '' } = await fleet.completed('wide');
    const judged = await judgeRollout(fleet.history, 'wide', currentRevision);
    expect(judged.problems).toEqual([]);
    expect(judged.machines.toSorted()).toEqual(names.toSorted());
    expect(judged).toMatchObject({ sizes: [1, 5, 10], mostOutOfService: 3 });
    expect(await fleet.versions('wide')).toEqual(allAt(names, 'wide-2.0'));
  });

  it('ROL-32 takes a bad version back in its first batch, tells why, and runs it again with another retry token', async () => {
    const names = await fleet.pool('bad', 4);
    fleet.broken.add('bad-2.0');
    const rollout = { batches: [2, 2], maxUnavailable: 2, gate: gateOf(1) };
    await fleet.declare('bad', '2.0', { rollout });
    const { updateRevision: bad = '', ...back } = await fleet.setIs('bad', 'rolled back', isRefused);
    const touched = startsOf(await fleet.history.starts('bad'), bad);
    expect(touched.map(({ batch }) => batch)).toEqual([0, 0]);
    const failed = back.failedMachines?.map(({ name, code }) => `${name} ${code}`) ?? [];
    expect(failed).not.toEqual([]);
    expect(touched.map(({ machine }) => `${machine} UnitFailed`)).toEqual(expect.arrayContaining(failed));
    expect(conditionOf(back.conditions, 'Ready')).toMatchObject({ status: 'False', reason: 'RolledBack' });
    const stalled = conditionOf(back.conditions, 'Stalled');
    expect(stalled).toMatchObject({ status: 'True', reason: 'RolledBack' });
    expect(stalled?.message).toMatch(
      /UnitFailed on \d of \d: bad: unit bad failed: exit code 3; machines: bad-/,
    );
    expect(await fleet.versions('bad')).toEqual(allAt(names, 'bad-1.0'));
    await expect.poll(() => fleet.openGrants('bad'), PATIENCE).toEqual([]);
    await expect
      .poll(() => returned(bad), PATIENCE)
      .toEqual(touched.map(({ machine }) => machine).toSorted());

    await fleet.declare('bad', '3.0', { rollout });
    await fleet.completed('bad');
    await fleet.declare('bad', '2.0', { rollout });
    await fleet.setIs('bad', 'refused', (status) => isRefused(status) && status.updateRevision === bad);
    expect(startsOf(await fleet.history.starts('bad'), bad)).toHaveLength(2);

    fleet.broken.delete('bad-2.0');
    await fleet.declare('bad', '2.0', { rollout, retryToken: 'again' });
    await fleet.completed('bad');
    expect(await fleet.versions('bad')).toEqual(allAt(names, 'bad-2.0'));
  });

  /** By the events of the set. */
  async function returned(revision: string): Promise<readonly string[]> {
    const notes = (await eventsAbout(fleet.cluster.admin, 'bad')).map(({ note }) => note);
    return notes
      .filter((note) => note.includes(`back from ${revision} (grant `))
      .map((note) => note.split(/[ :]/)[1] ?? '')
      .toSorted();
  }
});

function allAt(names: readonly string[], version: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, version]));
}

/** It is back, and tells what to do. */
function isRefused({ phase, waiting }: SetStatus): boolean {
  return phase === 'Stalled' && waiting?.message?.includes('retryToken') === true;
}

function startsOf(starts: readonly MachineStart[], revision: string): readonly MachineStart[] {
  return starts.filter((start) => start.revision === revision);
}
