import { describe, expect, it } from 'vitest';
import type { MachineComponentSet } from '../../../../src/api/generated/types.ts';
import { type RolloutFleet, withChange } from '../../../../src/cli/plan/rollouts/fleet.ts';
import { type AskedRollout, planRollouts } from '../../../../src/cli/plan/rollouts/preview.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { PlannedRollout } from '../../../../src/sync/preview/rollouts.ts';
import { machine, NOW } from '../../../support/builders.ts';
import { kubelet, kubeletSet, rolloutFleet, settledMachine, settledSet } from './rollout-fleet.ts';

function planned(fleet: RolloutFleet, ...written: readonly KubeObject[]): readonly PlannedRollout[] {
  return asked(fleet, ...written).map(({ rollout }) => rollout);
}

function asked(fleet: RolloutFleet, ...written: readonly KubeObject[]): readonly AskedRollout[] {
  return planRollouts(fleet, withChange(fleet, { written, deleted: [] }), NOW);
}

/** The set of the fleet, with another version. */
function upgraded(version: string, parts: Parameters<typeof kubeletSet>[1] = {}): KubeObject {
  const { status } = settledSet();
  return kubeletSet(version, { ...(status && { status }), ...parts });
}

describe('planRollouts', () => {
  it('ROL-60 has the batches of every machine, with their classes and drains', () => {
    const [found, ...others] = planned(rolloutFleet(7), upgraded('1.36.3'));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      set: 'general',
      changes: ['kubelet-1.35.4 → kubelet-1.36.3'],
      selected: 7,
      class: 'Drain',
      drains: 7,
      grants: 7,
      joining: { count: 0, class: 'None', names: [] },
      more: { batches: 0, machines: 0 },
    });
    expect(found?.batches.map(({ index, count, class: of }) => [index, count, of])).toEqual([
      [0, 1, 'Drain'],
      [1, 5, 'Drain'],
      [2, 1, 'Drain'],
    ]);
    const names = found?.batches.flatMap((batch) => batch.names).toSorted();
    expect(names).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4', 'm-5', 'm-6']);
    expect(found?.wait).toBeUndefined();
    const { shortestSeconds = 0, longestSeconds = 0 } = found?.takes ?? {};
    const { gate, machineTimeoutSeconds } = (upgraded('1.36.3') as MachineComponentSet).spec.rollout;
    expect(shortestSeconds).toBe(3 * gate.soakSeconds);
    expect(longestSeconds).toBeGreaterThanOrEqual(shortestSeconds + 3 * machineTimeoutSeconds);
  });

  it('mentions no set whose rollout the commit does not change', () => {
    const fleet = rolloutFleet(3);
    expect(planned(fleet)).toEqual([]);
    const { spec } = settledSet();
    expect(planned(fleet, { ...settledSet(), spec: { ...spec, paused: true } })).toMatchObject([
      { grants: 0, wait: { reason: 'Paused' } },
    ]);
    const underWay = { ...fleet, sets: [upgraded('1.36.3') as (typeof fleet.sets)[number]] };
    expect(planned(underWay, upgraded('1.36.3'))).toEqual([]);
  });

  it('shows what a paused set would do, and that it waits', () => {
    const [found] = planned(rolloutFleet(2), upgraded('1.36.3', { spec: { paused: true } }));
    expect(found).toMatchObject({ grants: 2, drains: 2, wait: { reason: 'Paused' } });
  });

  it('ROL-53 names a kubelet that is newer than the API server', () => {
    const [found] = planned(rolloutFleet(2), upgraded('1.37.0'), kubelet('1.37.0'));
    expect(found?.wait).toMatchObject({ reason: 'KubeletSkew' });
    expect(found?.takes).toBeUndefined();
  });

  it('ROL-04 names the machines that a partition keeps, and plans batches of the others', () => {
    const [found] = planned(rolloutFleet(7), upgraded('1.36.3', { rollout: { partition: 4 } }));
    expect(found?.batches.map(({ count }) => count)).toEqual([1, 2]);
    expect(found).toMatchObject({
      grants: 3,
      holds: { first: [{ reason: 'HeldByPartition', message: '4 machines held by partition' }], more: 0 },
    });
  });

  it('names a machine that a version does not fit, and plans it in no batch', () => {
    const { spec, ...found } = kubelet('1.36.3');
    const limited = { ...found, spec: { ...spec, compat: { kernelMin: '99', upgradeFrom: [] } } };
    const [plan] = planned(rolloutFleet(2), upgraded('1.36.3'), limited);
    expect(plan).toMatchObject({ batches: [], grants: 0, holds: { more: 0 } });
    expect(plan?.holds?.first.map(({ reason }) => reason)).toEqual([
      'CompatibilityUnknown',
      'CompatibilityUnknown',
    ]);
  });

  it('names a version that does not exist, and changes no machine', () => {
    expect(planned(rolloutFleet(2), upgraded('1.36.9'))).toMatchObject([
      { grants: 0, wait: { reason: 'ComponentNotFound', message: 'kubelet-1.36.9 was not found' } },
    ]);
  });

  it('shows a set that is new, over machines that have nothing yet', () => {
    const fresh = {
      metadata: { labels: { pool: 'edge' }, managedFields: [] },
      spec: { components: [] },
      status: { components: [] },
    };
    const [found] = planned(rolloutFleet(1), kubeletSet('1.36.3', {}, 'edge'), machine('e-1', fresh));
    expect(found).toMatchObject({
      set: 'edge',
      changes: ['nothing → kubelet-1.36.3'],
      selected: 1,
      batches: [{ index: 0, count: 1, names: ['e-1'] }],
    });
  });

  it('shows both sets that name the same component for a machine as in conflict', () => {
    const rival = kubeletSet('1.36.3', { spec: { machineSelector: { all: true } } }, 'rival');
    const found = planned(rolloutFleet(2), rival);
    expect(found.map(({ set, selected, wait }) => [set, selected, wait?.reason])).toEqual([
      ['general', 2, 'SetConflict'],
      ['rival', 2, 'SetConflict'],
    ]);
  });

  it('adds a machine that the commit labels for the set', () => {
    const added = { ...settledMachine('m-9'), spec: { ...settledMachine('m-9').spec, components: [] } };
    const fleet = rolloutFleet(2);
    const [found] = planned(fleet, added);
    expect(found).toMatchObject({ set: 'general', changes: [], selected: 3, grants: 1 });
  });

  it('has at most 32 batches and 20 names, and counts the others', () => {
    const [found] = planned(rolloutFleet(60), upgraded('1.36.3', { rollout: { batches: [25, 1] } }));
    expect(found?.batches).toHaveLength(32);
    expect(found?.batches[0]).toMatchObject({ count: 25, names: { length: 20 } });
    expect(found?.more).toEqual({ batches: 4, machines: 4 });
    expect(found?.grants).toBe(60);
  });

  it('ROL-60 has what the Defender would be asked now, of machines that exist and would start at once', () => {
    const added = { ...settledMachine('m-9'), spec: { ...settledMachine('m-9').spec, components: [] } };
    const rollout = { batches: [4], maxUnavailable: 2 };
    const [found] = asked(rolloutFleet(3), upgraded('1.36.3', { rollout }), added);
    expect(found?.rollout.batches[0]?.names).toContain('m-9');
    expect(found?.asks.map((each) => [each.machine, each.action, each.risk])).toEqual(
      found?.rollout.batches[0]?.names
        .filter((name) => name !== 'm-9')
        .slice(0, 2)
        .map((name) => [name, 'UpdateComponent', 'Node']),
    );
    const [waiting] = asked(rolloutFleet(3), upgraded('1.37.0'), kubelet('1.37.0'));
    expect(waiting?.asks).toEqual([]);
  });
});
