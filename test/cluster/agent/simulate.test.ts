import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectSimulated } from '../../../src/agent/simulate/connect.ts';
import { simulateFleet } from '../../../src/agent/simulate/fleet.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent } from '../../../src/api/generated/types.ts';
import { installation } from '../../../src/api/install/install.ts';
import { ANNOTATION_CONFIRM_DELETE, agentUser, NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import type { CallReport } from '../../../src/kube/client/request.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { startControllerManager } from '../../support/controller-manager.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const AGENTS = 40;
const NAMES = Array.from({ length: AGENTS }, (_, index) => `sim-${index}`);
/** Two heartbeats and a half: each agent sends two or three. */
const IDLE_SECONDS = 25;

let installed: InstalledServer;
beforeAll(async () => {
  // Grants are written here without the Defender, which this policy forbids.
  const objects = installation().filter(({ metadata }) => !metadata.name.includes('components-writer'));
  installed = await startInstalledServer(objects);
});
afterAll(() => installed?.stop());

async function leaseNames(): Promise<readonly string[]> {
  const { items } = await installed.server.client.list(LEASES, { namespace: NAMESPACE_AGENTS });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

/** Nothing is left to report: what follows is the heartbeat. */
function hasLastStatus({ status }: Machine): boolean {
  const states = status?.conditions?.map(({ type, status: value }) => `${type} ${value}`) ?? [];
  const isCommitted = status?.components?.[0]?.state === 'Committed';
  return (
    isCommitted &&
    ['ComponentsReady True', 'UpToDate True', 'DriftDetected False'].every((each) => states.includes(each))
  );
}

describe('simulated agents with a real API server', () => {
  it('AGT-02 install what their Machines declare, each with its own rights, are quiet when idle, and leave no Lease of a deleted Machine', async () => {
    const { client, url, caPem } = installed.server;
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineComponent',
      metadata: { name: 'proxy-1.0' },
      spec: componentSpec('1.0', { commitAfterSeconds: 1 }),
    };
    await client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test' });
    const { spec } = await client.get<MachineComponent>(MACHINE_COMPONENTS, object.metadata);
    for (const name of NAMES) {
      const machine = {
        infra: { provider: 'local' },
        host: { type: 'sandbox' },
        components: [entryOf(spec)],
      };
      const metadata = { name };
      await client.create(MACHINES, {
        apiVersion: object.apiVersion,
        kind: 'Machine',
        metadata,
        spec: machine,
      });
    }
    const clock = createSystemClock();
    const stop = new AbortController();
    const calls: (CallReport & { readonly endedMs: number })[] = [];
    const onCall = (call: CallReport): void => void calls.push({ ...call, endedMs: clock.monotonicMs() });
    let stopManager: (() => Promise<void>) | undefined;
    const running = simulateFleet(
      {
        machines: NAMES,
        connect(machine) {
          const pair = installed.server.certificateFor(createPrincipal(agentUser(machine)));
          const pem = { ca: caPem, cert: pair.certPem, key: pair.keyPem };
          return connectSimulated({ ...pem, server: url, clock, onCall });
        },
        startsPerSecond: 100,
        version: '0.0.1',
        clock,
        log: memoryLog(),
        random: systemRandom,
      },
      stop.signal,
    );
    /** On a machine that stands still for seconds, agents connect again: then another time shows what they do by themselves. */
    const quietTime = async (): Promise<readonly CallReport[] | undefined> => {
      const idleMs = clock.monotonicMs();
      await clock.sleep(IDLE_SECONDS * 1000);
      // Calls that began before it may end in it.
      const all = calls.filter(({ endedMs, seconds }) => endedMs - seconds * 1000 >= idleMs);
      return all.every(({ verb, code }) => verb === 'apply' && code === '200') ? all : undefined;
    };
    try {
      const settled = async (): Promise<true | undefined> => {
        const { items } = await client.list<Machine>(MACHINES);
        return (items.length === AGENTS && items.every(hasLastStatus)) || undefined;
      };
      await eventually(settled, 'not every agent reported its component as committed');
      const idleCalls = await eventually(quietTime, 'the agents were never quiet');
      const perAgent = idleCalls.length / AGENTS / IDLE_SECONDS;
      expect(perAgent).toBeGreaterThan(0.05);
      expect(perAgent).toBeLessThanOrEqual(0.2);
      expect(await leaseNames()).toEqual(NAMES.toSorted());

      stopManager = await startControllerManager(installed.server, ['garbage-collector-controller']);
      const [gone = '', ...left] = NAMES.toSorted();
      const { uid = '' } = (await client.get(MACHINES, { name: gone })).metadata;
      const annotations = { [ANNOTATION_CONFIRM_DELETE]: uid };
      const { apiVersion } = object;
      const confirmed = { apiVersion, kind: 'Machine', metadata: { name: gone, annotations } };
      await client.apply(MACHINES, confirmed, { fieldManager: 'test-delete' });
      await client.delete(MACHINES, { name: gone }, { uid });
      await expect.poll(leaseNames).toEqual(left);
    } finally {
      stop.abort();
      await running;
      await stopManager?.();
    }
  });
});
