/** The shipped rule `maintenance` with the controllers of events, rules and jobs, and their live facts. */
import { describe, expect, it } from 'vitest';
import { MAINTENANCE_EVENTS } from '../../../src/api/generated/resources.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY } from '../../../src/api/names.ts';
import { PODS } from '../../../src/kube/objects/core-kinds.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import { announce, machineWithMaintenance, runSlowPod } from '../../support/faults/f12-hint-cordon.ts';
import type { RepairBed } from '../../support/faults/repair-bed.ts';

function cordonOf({ node }: RepairBed): readonly unknown[] {
  const object = node.object();
  return [object && isCordoned(object), object?.metadata.annotations?.[ANNOTATION_CORDONED_BY]];
}

function evictedPods({ api }: RepairBed): readonly string[] {
  const pods = api.objects.list({ resource: PODS }, undefined);
  return pods
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => metadata.name);
}

function phaseOf({ api }: RepairBed): unknown {
  const [event] = api.objects.list({ resource: MAINTENANCE_EVENTS }, undefined);
  return valueAt(event, 'status', 'phase');
}

const FREE = [false, undefined];

describe('announced maintenance', () => {
  it('R39 an event that is reported a hundred times leads to one job, which ends with the event', async () => {
    const bed = await machineWithMaintenance();
    for (let report = 0; report < 100; report += 1) {
      announce(bed);
      await bed.live(1); // oxlint-disable-line no-await-in-loop -- one report after the other
    }
    expect(bed.attempts()).toEqual(['empty 1 at work']);
    expect([cordonOf(bed)[0], phaseOf(bed)]).toEqual([true, 'Prepared']);
    announce(bed, { state: 'Executing' });
    await bed.live(5);
    bed.node.boot();
    await bed.live(600, 5);
    expect([bed.attempts(), cordonOf(bed)[0]]).toEqual([['empty 1 at work'], true]);
    announce(bed, { state: 'Done' });
    await bed.live(60);
    expect([bed.attempts(), cordonOf(bed), phaseOf(bed)]).toEqual([['empty 1 Succeeded'], FREE, 'Done']);
    await bed.live(3600, 30);
    expect(bed.jobs()).toHaveLength(1);
  });

  it('R39 acts at the very time that the controller of events has found, and not before', async () => {
    const bed = await machineWithMaintenance();
    const notBefore = new Date(bed.clock.now().getTime() + 7_200_000).toISOString();
    announce(bed, { notBefore });
    await bed.live(5);
    const [event] = bed.api.objects.list({ resource: MAINTENANCE_EVENTS }, undefined);
    const actAt = Date.parse(String(valueAt(event, 'status', 'actAt')));
    await bed.live((actAt - bed.clock.now().getTime()) / 1000 - 2, 1);
    expect(bed.jobs()).toEqual([]);
    await bed.live(5);
    expect(bed.attempts()).toEqual(['empty 1 at work']);
  });

  it.each(['Cancelled', 'Avoided', 'Failed'] as const)(
    'R39 an event that is %s while its machine is drained returns the machine within a minute',
    async (state) => {
      const bed = await machineWithMaintenance();
      runSlowPod(bed);
      announce(bed);
      await bed.live(20);
      expect([bed.attempts(), cordonOf(bed)[0], evictedPods(bed)]).toEqual([
        ['empty 1 at work'],
        true,
        ['slow'],
      ]);
      announce(bed, { state });
      await bed.live(60);
      expect([cordonOf(bed), phaseOf(bed)]).toEqual([FREE, 'Done']);
      expect(bed.jobs()[0]?.status?.outcome).toMatchObject({ reason: 'RuleRefuted' });
      expect(bed.grants.open.size).toBe(0);
    },
  );

  it('R39 an event that is cancelled after the drain returns the machine within a minute', async () => {
    const bed = await machineWithMaintenance();
    announce(bed);
    await bed.live(30);
    expect([cordonOf(bed)[0], phaseOf(bed)]).toEqual([true, 'Prepared']);
    announce(bed, { state: 'Cancelled' });
    await bed.live(60);
    expect([bed.attempts(), cordonOf(bed), phaseOf(bed)]).toEqual([['empty 1 Succeeded'], FREE, 'Done']);
  });

  it('R39 an event that is postponed while its machine is drained returns the machine, and empties it again in time', async () => {
    const bed = await machineWithMaintenance();
    runSlowPod(bed);
    announce(bed);
    await bed.live(20);
    const notBefore = new Date(bed.clock.now().getTime() + 10_800_000).toISOString();
    announce(bed, { notBefore });
    await bed.live(60);
    expect([cordonOf(bed), phaseOf(bed)]).toEqual([FREE, 'Pending']);
    await bed.live(10_800, 30);
    expect(bed.jobs()).toHaveLength(2);
    expect(cordonOf(bed)[0]).toBe(true);
  });

  it('R34 R39 a cordon of a person stays when an event is cancelled', async () => {
    const bed = await machineWithMaintenance();
    bed.node.personCordons(true);
    announce(bed);
    await bed.live(30);
    announce(bed, { state: 'Cancelled' });
    await bed.live(60);
    expect(cordonOf(bed)).toEqual([true, undefined]);
    expect(bed.jobs()).toHaveLength(1);
  });

  it('R39 a hint alone drains nothing, and leaves nothing at the end of its life', async () => {
    const bed = await machineWithMaintenance();
    runSlowPod(bed);
    announce(bed, { hint: true, ttlSeconds: 600 });
    await bed.live(300, 1);
    expect([bed.jobs(), cordonOf(bed), evictedPods(bed)]).toEqual([[], FREE, []]);
    await bed.live(330, 1);
    expect([bed.jobs(), cordonOf(bed), phaseOf(bed)]).toEqual([[], FREE, 'Done']);
  });

  it('R39 an event that made an impossible change leads to nothing', async () => {
    const bed = await machineWithMaintenance();
    announce(bed, { state: 'Inquiring' });
    await bed.live(5);
    announce(bed, { state: 'Executing' });
    await bed.live(120, 1);
    expect([bed.jobs(), cordonOf(bed)]).toEqual([[], FREE]);
  });
});
