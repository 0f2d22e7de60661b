/** The power of a silent host, read from its BMC by the machine controller. */
import { describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { createMachineController } from '../../../../src/controllers/machine/controller.ts';
import { CERTIFICATE_REQUESTS } from '../../../../src/kube/auth/certificate-requests.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { condition, machine, node } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../../support/controller/bed.ts';
import { createMemoryPower, type MemoryPower } from '../../../support/memory-power.ts';

interface PowerBed {
  readonly bed: ControllerBed;
  readonly power: MemoryPower;
  /** Calls of the BMC so far. */
  readonly reads: () => number;
  readonly stop: () => Promise<void>;
}

const BMC = {
  address: 'https://bmc.example',
  credentialsRef: { name: 'bmc' },
  certificateFingerprint: `SHA256:${'A'.repeat(43)}`,
};

function heartbeat(bed: ControllerBed, name = 'm'): void {
  bed.apply({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kubenode-agents' },
    spec: { renewTime: bed.clock.now().toISOString() },
  });
}

function kubelet(bed: ControllerBed, ready: 'True' | 'Unknown'): void {
  const status = { conditions: [condition('Ready', ready)] };
  bed.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'm' }, status }, 'status');
}

function hostObject(bmc: typeof BMC): KubeObject {
  const spec = { infra: { provider: 'ssh', config: {} }, bmc, components: [] } as const;
  const { status: _, metadata, ...rest } = machine('m', { spec });
  return { ...rest, metadata: { name: metadata.name } };
}

async function reporting(): Promise<PowerBed> {
  let calls = 0;
  const clock = { now: () => bed.clock.now() };
  const power = createMemoryPower({ clock, called: (call) => (calls += call === 'state BMC' ? 1 : 0) });
  const { status: _, ...nodeObject } = node('m');
  const objects = [hostObject(BMC), nodeObject];
  const kinds = [
    servedKind(MACHINES),
    servedKind(NODES),
    { resource: DEFENDER_LEDGERS },
    { resource: CERTIFICATE_REQUESTS },
  ];
  const grants = { ask: async () => [], settle: async () => undefined, renew: async () => [] };
  const bed: ControllerBed = createControllerBed({
    controllers: () => [
      createMachineController({ client: {} as never, grants, power: { switches: power, clock: bed.clock } }),
    ],
    kinds,
    objects,
  });
  const { stop } = await bed.start();
  heartbeat(bed);
  kubelet(bed, 'True');
  await bed.advance(3000);
  heartbeat(bed);
  await bed.advance(3000);
  return { bed, power, reads: () => calls, stop };
}

/** No age grows without contact with the API server: the agent of another machine renews its Lease. */
async function wait(bed: ControllerBed, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 5) {
    heartbeat(bed, 'other');
    // oxlint-disable-next-line no-await-in-loop -- one heartbeat after the other
    await bed.advance(5000);
  }
}

async function fallSilent(bed: ControllerBed): Promise<void> {
  kubelet(bed, 'Unknown');
  await wait(bed, 60);
}

function reported(bed: ControllerBed): unknown {
  return bed.get<Machine>(MACHINES, 'm')?.status?.power;
}

describe('the power of a silent host', () => {
  it('R20 is read from its BMC, again every two minutes, and not while the host reports', async () => {
    const { bed, power, reads } = await reporting();
    power.hostOf('m').isOn = false;
    expect([reads(), reported(bed)]).toEqual([0, undefined]);
    await fallSilent(bed);
    expect([reads(), reported(bed)]).toEqual([1, { state: 'Off', since: expect.any(String) as string }]);
    await wait(bed, 95);
    expect(reads()).toBe(1);
    power.hostOf('m').isOn = true;
    await wait(bed, 25);
    expect([reads(), reported(bed)]).toEqual([2, { state: 'On', since: expect.any(String) as string }]);
    heartbeat(bed);
    await bed.advance(10_000);
    expect([reads(), reported(bed)]).toEqual([2, undefined]);
    // What was read before the host reported is not about its next silence.
    await wait(bed, 60);
    expect([reads(), reported(bed)]).toMatchObject([3, { state: 'On' }]);
  });

  it('R20 is unknown, with the reason, while the BMC does not answer', async () => {
    const { bed, power, reads } = await reporting();
    power.faults.BMC = { silent: 'Retryable' };
    await fallSilent(bed);
    expect(reported(bed)).toMatchObject({ state: 'Unknown', message: 'the switch does not answer' });
    power.faults.BMC = {};
    await wait(bed, 125);
    expect([reads(), reported(bed)]).toEqual([2, { state: 'On', since: expect.any(String) as string }]);
  });

  it('R20 is unknown where the BMC cannot be trusted', async () => {
    const { bed, power, reads } = await reporting();
    power.faults.BMC = { none: 'the system UUID of Machine m is not known: set bmc.systemUUID' };
    await fallSilent(bed);
    expect([reads(), reported(bed)]).toEqual([
      0,
      expect.objectContaining({
        state: 'Unknown',
        message: expect.stringContaining('set bmc.systemUUID') as string,
      }),
    ]);
  });

  it('R20 is unknown with no more of a long reason than its field takes', async () => {
    const { bed, power } = await reporting();
    power.faults.BMC = { none: 'x'.repeat(2000) };
    await fallSilent(bed);
    expect(reported(bed)).toMatchObject({ state: 'Unknown', message: 'x'.repeat(512) });
  });

  it('R20 is read again by another process, and at once for another BMC', async () => {
    const { bed, power, reads, stop } = await reporting();
    await fallSilent(bed);
    await stop();
    power.hostOf('m').isOn = false;
    await bed.start();
    // The Lease is as old as the process: it proves no silence yet.
    await fallSilent(bed);
    expect([reads(), reported(bed)]).toMatchObject([2, { state: 'Off' }]);
    bed.apply(hostObject({ ...BMC, address: 'https://other.example' }));
    await bed.advance(3000);
    expect(reads()).toBe(3);
  });
});
