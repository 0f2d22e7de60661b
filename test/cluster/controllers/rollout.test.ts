/** Component sets on a real API server: `kubenode controllers`, agents on hosts in memory, and what the watches of a third party saw. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { slice } from '../../support/sweep-size.ts';
import { eventsAbout } from '../agent/machine-events.ts';
import { applyPolicy, readPolicy } from '../defender/objects.ts';
import { gateOf, type RolloutFleet, type SetStatus, startRolloutFleet } from './rollout-fleet.ts';
import type { MachineStart } from './rollout-history.ts';
import { judgeRollout } from './rollout-problems.ts';

const STOP_MS = 5000;
const SHOWN: ReadonlySet<string> = new Set(['Ready', 'Ready Updating Ready']);

describe('a component set', () => {
  let fleet: RolloutFleet;

  beforeAll(async () => {
    fleet = await startRolloutFleet();
  });
  afterAll(() => fleet?.stop());

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
    const starts = startsOf(await fleet.history.starts('wide'), currentRevision);
    const phases = async (): Promise<readonly string[]> => {
      const each = starts.map(({ machine, version }) => fleet.history.phases(machine, version));
      return [...new Set((await Promise.all(each)).map((own) => own.join(' ')))];
    };
    // An update of a moment need not be shown: the status of its Machine waits for its end.
    const isShown = async (): Promise<boolean> => (await phases()).every((own) => SHOWN.has(own));
    await expect.poll(isShown).toBe(true);
  });

  it('shows a machine as Updating while an update lasts, and as Ready after it', async () => {
    await fleet.pool('slow', 2);
    await fleet.declare('slow', '2.0', { commitAfterSeconds: 15 });
    const { currentRevision = '' } = await fleet.completed('slow');
    const starts = startsOf(await fleet.history.starts('slow'), currentRevision);
    const phases = async (): Promise<readonly string[]> => {
      const each = starts.map(({ machine, version }) => fleet.history.phases(machine, version));
      return (await Promise.all(each)).map((own) => own.join(' '));
    };
    await expect.poll(phases).toEqual(['Ready Updating Ready', 'Ready Updating Ready']);
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
    await expect.poll(() => fleet.openGrants('bad')).toEqual([]);
    await expect.poll(() => returned('bad 2.0')).toEqual(touched.map(({ machine }) => machine).toSorted());

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

  it('ROL-34 starts no machine after a pause was observed, lets those in work end, and goes on when it is resumed', async () => {
    const names = await fleet.pool('paused', 6);
    const rollout = { batches: [1, 2, 3], maxUnavailable: 1, gate: gateOf(1) };
    await fleet.declare('paused', '2.0', { rollout });
    const revision = await fleet.startedIn('paused', 1);
    await fleet.declare('paused', '2.0', { rollout, paused: true });
    await fleet.setIs('paused', 'paused', ({ phase }) => phase === 'Paused');
    const before = startsOf(await fleet.history.starts('paused'), revision).length;
    expect(before).toBeLessThan(names.length);
    await expect.poll(() => fleet.openGrants('paused')).toEqual([]);
    // Another generation, so that its status is that of a later reconcile.
    await fleet.declare('paused', '2.0', { rollout: { ...rollout, gate: gateOf(2) }, paused: true });
    const { batch } = await fleet.setIs('paused', 'still paused', ({ phase }) => phase === 'Paused');
    expect(startsOf(await fleet.history.starts('paused'), revision)).toHaveLength(before);

    await fleet.declare('paused', '2.0', { rollout });
    await fleet.completed('paused');
    const judged = await judgeRollout(fleet.history, 'paused', revision);
    expect(judged).toMatchObject({ problems: [], sizes: [1, 2, 3], mostOutOfService: 1 });
    expect(batch).toMatchObject({ index: 1, size: 2 });
    expect(await fleet.versions('paused')).toEqual(allAt(names, 'paused-2.0'));
  });

  it('ROL-10 starts each machine once and opens each batch once when the leader of three replicas is killed twice', async () => {
    const names = await fleet.pool('killed', 8);
    fleet.cluster.start(2);
    const rollout = { batches: [1, 2, 5], maxUnavailable: 2, gate: gateOf(1) };
    await fleet.declare('killed', '2.0', { rollout });
    const revision = await fleet.startedIn('killed', 1);
    await fleet.cluster.killLeader();
    await fleet.startedIn('killed', 2);
    await fleet.cluster.killLeader();
    await fleet.completed('killed');
    const judged = await judgeRollout(fleet.history, 'killed', revision);
    expect(judged).toMatchObject({ problems: [], sizes: [1, 2, 5] });
    expect(judged.machines.toSorted()).toEqual(names.toSorted());
    expect(judged.mostOutOfService).toBeLessThanOrEqual(2);
    expect(names.map((name) => fleet.programStarts(name))).toEqual(names.map(() => 2));
    await expect.poll(() => fleet.openGrants('killed')).toEqual([]);
  });

  it('ROL-06 acts on no machine that two sets select, names both sets, and continues when one is deleted', async () => {
    const names = await fleet.pool('shared', 3);
    const machineSelector = { matchLabels: { machine: 'shared-1' } };
    await fleet.declare('shared', '2.0', { set: 'rival', machineSelector });
    for (const [set, other] of [
      ['rival', 'shared'],
      ['shared', 'rival'],
    ] as const) {
      const { conditions } = await fleet.setIs(set, 'in conflict', ({ phase }) => phase === 'Conflict');
      const message = `sets ${set} and ${other} both select machine shared-1 and name component shared`;
      expect(conditionOf(conditions, 'Conflict')?.message).toContain(message);
    }
    await fleet.declare('shared', '3.0');
    const others = { 'shared-2': 'shared-3.0', 'shared-3': 'shared-3.0' };
    await expect.poll(() => fleet.versions('shared')).toEqual({ 'shared-1': 'shared-1.0', ...others });
    const { uid = '' } = (await fleet.set('rival')).metadata;
    await fleet.cluster.admin.delete(MACHINE_COMPONENT_SETS, { name: 'rival' }, { uid });
    await expect.poll(() => fleet.versions('shared')).toEqual(allAt(names, 'shared-3.0'));
    await fleet.setIs('shared', 'without conflict', ({ phase }) => phase === 'Completed');
    expect(await fleet.history.starts('rival')).toEqual([]);
  });

  it('ROL-12 starts nothing that the Defender denies, shows policy, number and limit, and continues when the policy permits', async () => {
    const names = await fleet.pool('denied', 2);
    const { installed } = fleet.cluster;
    await applyPolicy(installed, 'no-denied', policyFor('denied', 0));
    const phaseOf = async (): Promise<unknown> =>
      (await readPolicy(fleet.cluster.admin, 'no-denied')).status?.phase;
    await expect.poll(phaseOf).toBe('InForce');
    await fleet.declare('denied', '2.0');
    const { waiting } = await fleet.setIs('denied', 'waiting', ({ phase }) => phase === 'Waiting');
    expect(waiting).toMatchObject({
      reason: 'GrantDenied',
      blocker: { kind: 'DefenderPolicy', name: 'no-denied' },
    });
    expect(waiting?.message).toMatch(
      /: cluster: 0 .* at most 0 allowed by limit few \(DefenderPolicy no-denied\)/,
    );
    expect(await fleet.history.starts('denied')).toHaveLength(names.length);
    await applyPolicy(installed, 'no-denied', policyFor('denied', 2));
    await fleet.completed('denied');
    expect(await fleet.versions('denied')).toEqual(allAt(names, 'denied-2.0'));
  });

  it.each(
    slice(
      [
        {
          pool: 'stopped',
          by: 'the kill switch',
          deny: (isDenied: boolean) => fleet.cluster.setStopped(isDenied),
          shown: ['fleet-default', /: KillSwitch: .*a test/],
        },
        {
          pool: 'limited',
          by: 'a limit',
          deny: (isDenied: boolean) =>
            applyPolicy(fleet.cluster.installed, 'no-limited', policyFor('limited', isDenied ? 0 : 8)),
          shown: [
            'no-limited',
            /: cluster: \d .* at most 0 allowed by limit few \(DefenderPolicy no-limited\)/,
          ],
        },
      ] as const,
      1,
    ),
  )(
    'ROL-12 starts no machine from 5 s after it is denied by $by, and shows policy, number and limit within 30 s',
    async ({ pool, deny, shown: [policy, message] }) => {
      const names = await fleet.pool(pool, 8);
      await fleet.declare(pool, '2.0', { rollout: { maxUnavailable: 1 } });
      const revision = await fleet.startedIn(pool, 0);
      const started = async (): Promise<number> =>
        startsOf(await fleet.history.starts(pool), revision).length;
      const deniedAt = performance.now();
      await deny(true);
      await sleep(STOP_MS - (performance.now() - deniedAt));
      const before = await started();
      expect(before).toBeLessThan(names.length);
      const { waiting } = await fleet.setIs(
        pool,
        'denied',
        (status) => status.waiting?.reason === 'GrantDenied',
      );
      expect(performance.now() - deniedAt).toBeLessThan(30_000);
      expect(waiting).toMatchObject({ blocker: { kind: 'DefenderPolicy', name: policy } });
      expect(waiting?.message).toMatch(message);
      // What was in work has ended: without the denial others would have been started.
      await expect.poll(() => fleet.openGrants(pool)).toEqual([]);
      await sleep(STOP_MS);
      expect(await started()).toBe(before);
      await deny(false);
      await fleet.completed(pool);
      expect(await fleet.versions(pool)).toEqual(allAt(names, `${pool}-2.0`));
    },
  );

  it('ROL-61 leaves out a machine that a person holds during the rollout, counts it, and updates it when it is released', async () => {
    const names = await fleet.pool('held', 4);
    const gate = { ...gateOf(0), approval: 'FirstBatch' } as const;
    const rollout = { batches: [1, 3], maxUnavailable: 4, gate };
    await fleet.declare('held', '2.0', { rollout });
    const waits = await fleet.setIs(
      'held',
      'waiting',
      ({ waiting }) => waiting?.reason === 'ApprovalRequired',
    );
    const revision = waits.updateRevision ?? '';
    const [first] = startsOf(await fleet.history.starts('held'), revision);
    const name = names.find((each) => each !== first?.machine) ?? '';
    await fleet.cluster.admin.patch(
      MACHINES,
      { name },
      { type: 'merge', body: { spec: { hold: { reason: 'forensics' } } } },
    );
    await fleet.setIs('held', 'aware of the hold', ({ counts }) => counts?.held === 1);
    await fleet.declare('held', '2.0', { rollout: { ...rollout, approved: { revision, throughBatch: 0 } } });
    const { counts } = await fleet.completed('held');
    expect(counts).toMatchObject({ selected: 4, updated: 3, held: 1 });
    expect(await fleet.versions('held')).toEqual({ ...allAt(names, 'held-2.0'), [name]: 'held-1.0' });
    await fleet.cluster.admin.patch(MACHINES, { name }, { type: 'merge', body: { spec: { hold: null } } });
    await expect.poll(() => fleet.versions('held')).toEqual(allAt(names, 'held-2.0'));
  });

  /** By the events of the set. */
  async function returned(versions: string): Promise<readonly string[]> {
    const notes = (await eventsAbout(fleet.cluster.admin, 'bad')).map(({ note }) => note);
    return notes
      .filter((note) => note.includes(`back from ${versions} (grant `))
      .map((note) => note.split(/[ :]/)[1] ?? '')
      .toSorted();
  }
});

function policyFor(pool: string, max: number): object {
  return {
    scope: { nodeSelector: { matchLabels: { pool } } },
    concurrency: [{ name: 'few', per: 'Cluster', risks: ['Pod'], max }],
  };
}

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
