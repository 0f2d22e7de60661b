/** Restarts of Pods on a real API server, as `kubenode controllers` watches them: a test plays the kubelet that reports them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESTARTS_THAT_FAIL } from '../../../../src/controllers/componentset/observe/pod-restarts.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { PODS } from '../../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { createPod } from '../budgeted-pod.ts';
import { gateOf, type RolloutFleet, startRolloutFleet } from '../rollout-fleet.ts';

const POOL = 'restarts';
const HOUR_MS = 3_600_000;
/** Enough to fail a machine, if they counted. */
const BEFORE = RESTARTS_THAT_FAIL + 1;
/** More often than before. */
const SINCE = BEFORE + 1;

describe('a component set', () => {
  let fleet: RolloutFleet;
  const clock = createSystemClock();

  beforeAll(async () => {
    fleet = await startRolloutFleet();
  });
  afterAll(() => fleet?.stop());

  it('ROL-20 takes a version back that is in force and healthy when a Pod of its first machine restarts, names the Pod, and counts no restart of before', async () => {
    const names = await fleet.pool(POOL, 3);
    await Promise.all(names.map((name) => createPod(fleet.cluster.admin, name)));
    await Promise.all(names.map((name) => reportRestarts(name, BEFORE, secondAfter(-HOUR_MS))));
    await fleet.declare(POOL, '2.0', { rollout: { gate: gateOf(1) } });
    await fleet.completed(POOL);

    const rollout = { batches: [1, 2], gate: gateOf(60) };
    await fleet.declare(POOL, '3.0', { rollout });
    await expect.poll(reached).toHaveLength(1);
    const [machine = ''] = await reached();
    await reportRestarts(machine, BEFORE + SINCE, secondAfter(0));
    const status = await fleet.setIs(POOL, 'rolled back', ({ phase }) => phase === 'Stalled');
    const pod = `containers restart more often than before the update: default/web-on-${machine} (${SINCE})`;
    expect(conditionOf(status.conditions, 'Ready')).toMatchObject({ status: 'False', reason: 'RolledBack' });
    expect(conditionOf(status.conditions, 'Stalled')?.message).toContain(pod);
    expect(status.failedMachines?.map(({ name }) => name)).toEqual([machine]);
    const starts = await fleet.history.starts(POOL);
    const touched = starts.filter(({ revision }) => revision === status.updateRevision);
    expect(touched.map((start) => start.machine)).toEqual([machine]);
    expect(await fleet.versions(POOL)).toEqual(
      Object.fromEntries(names.map((name) => [name, `${POOL}-2.0`])),
    );
  });

  /** Machines on which version 3.0 is in force. The set knows it: it has settled the grant, and counted the restarts before. */
  async function reached(): Promise<readonly string[]> {
    const machines = await fleet.machines(POOL);
    return machines.flatMap(({ metadata, spec, status }) => {
      const [report] = status?.components ?? [];
      const isInForce = report?.state === 'Committed' && report.currentRef === `${POOL}-3.0`;
      return isInForce && !spec.components[0]?.grant ? [metadata.name] : [];
    });
  }

  /** As a kubelet does. */
  async function reportRestarts(machine: string, restartCount: number, finishedAt: string): Promise<void> {
    const terminated = { exitCode: 1, finishedAt, startedAt: finishedAt };
    const container = {
      name: 'main',
      image: 'x',
      imageID: 'x',
      ready: true,
      restartCount,
      state: { running: { startedAt: finishedAt } },
      lastState: { terminated },
    };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `web-on-${machine}`, namespace: 'default' },
      status: { startTime: secondAfter(-2 * HOUR_MS), containerStatuses: [container] },
    };
    const options = { fieldManager: 'kubelet', force: true, subresource: 'status' };
    await fleet.cluster.admin.apply(PODS, pod, options);
  }

  /** Times of Pods are whole seconds: one that was rounded down might be before the end of the update. */
  function secondAfter(ms: number): string {
    return new Date(Math.ceil((clock.now().getTime() + ms) / 1000) * 1000).toISOString();
  }
});
