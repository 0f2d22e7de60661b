import { describe, expect, it } from 'vitest';
import type { FleetAllowance, FleetAllowanceSpec, FleetPolicy } from '../../../src/api/generated/types.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import {
  type AllowanceLeader,
  type ClusterPort,
  type ClusterReading,
  createAllowanceLeader,
} from '../../../src/sync/fleetlimits/leader.ts';
import { fleetAllowance } from '../../defender/allowance/builders.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { CLUSTERS, fleetPolicy, HUB } from './builders.ts';

/** A cluster that adopts at once what arrives. */
interface Stand extends ClusterPort {
  reading: ClusterReading;
  /** Whether its Defender adopts what arrives. */
  adopts: boolean;
  readonly written: FleetAllowanceSpec[];
  answer: 'Written' | 'NotWritten' | 'Lost' | 'LostAfterwards';
}

const REFUSED = { NotWritten: 'NotWritten' } as const;

function stand(name: string, allowance: FleetAllowance | 'None' = 'None'): Stand {
  const written: FleetAllowanceSpec[] = [];
  const port: Stand = {
    name,
    facts: () => ({ name, labels: {} }),
    reading: { allowance },
    adopts: true,
    written,
    answer: 'Written',
    read: () => port.reading,
    write: async (spec) => {
      await Promise.resolve();
      written.push(spec);
      if (port.answer === 'NotWritten') return REFUSED.NotWritten;
      if (port.answer !== 'Lost') {
        port.reading = { allowance: port.adopts ? adopting(spec) : fleetAllowance(spec) };
      }
      if (port.answer !== 'Written') throw new KubeError('Timeout', 'no answer');
      return 'Written';
    },
  };
  return port;
}

function adopting(spec: FleetAllowanceSpec): FleetAllowance {
  const limits = spec.limits.map(({ id, share }) => ({ id, share, used: 0, requested: 0 }));
  const { hub, epoch, seq, until } = spec;
  return fleetAllowance(spec, { conditions: [], hub, epoch, seq, until, limits });
}

interface Bed {
  readonly clock: VirtualClock;
  readonly leader: AllowanceLeader;
  readonly reconcile: (policies?: readonly FleetPolicy[]) => ReturnType<AllowanceLeader['reconcile']>;
}

function bed(ports: readonly Stand[], epoch = 2): Bed {
  const clock = virtualClock();
  const leader = createAllowanceLeader({ hub: HUB, epoch, clock });
  return { clock, leader, reconcile: (policies = [fleetPolicy()]) => leader.reconcile(policies, ports) };
}

/** The cluster reports that acts wait for a share. */
function request(port: Stand, requested = 1): void {
  const { reading } = port;
  if (!('allowance' in reading) || reading.allowance === 'None') throw new Error('nothing was written yet');
  const { allowance } = reading;
  const limits = allowance.status?.limits?.map((use) => ({ ...use, requested })) ?? [];
  port.reading = { allowance: { ...allowance, status: { conditions: [], ...allowance.status, limits } } };
}

function sharePut(port: Stand): number | undefined {
  return port.written.at(-1)?.limits.find(({ id }) => id === CLUSTERS)?.share;
}

describe('createAllowanceLeader', () => {
  it('joins each cluster with a higher epoch before it gives it anything', async () => {
    const ports = ['a', 'b', 'c'].map((name) => stand(name));
    const { reconcile } = bed(ports);
    await reconcile();
    expect(ports.map(sharePut)).toEqual([0, 0, 0]);
    await reconcile();
    expect(ports.map(sharePut)).toEqual([1, 1, 0]);
    expect(ports[0]?.written.at(-1)).toMatchObject({ hub: HUB, epoch: 2, seq: 2, cluster: 'a' });
  });

  it('writes nothing while nothing changes, and renews at half of the life', async () => {
    const port = stand('a');
    const { reconcile, clock } = bed([port]);
    await reconcile();
    await reconcile();
    await reconcile();
    expect(port.written).toHaveLength(2);
    await clock.advance(151_000);
    await reconcile();
    expect(port.written).toHaveLength(3);
  });

  it('raises no share while a cluster may have everything from an earlier process', async () => {
    const [known, lost] = [stand('a'), stand('b')];
    lost.reading = { because: 'no route' };
    const one = [fleetPolicy({ concurrency: [{ name: 'clusters', per: 'Cluster', max: 1, floor: 1 }] })];
    const { reconcile, clock } = bed([known, lost]);
    await reconcile(one);
    await reconcile(one);
    expect(sharePut(known)).toBe(0);
    // Its floor counts for an hour more.
    await clock.advance(361_000 + 3_600_000);
    await reconcile(one);
    await reconcile(one);
    expect(sharePut(known)).toBe(1);
  });

  it('raises no share while a cluster may still adopt what an earlier process gave it', async () => {
    const one = [fleetPolicy({ concurrency: [{ name: 'clusters', per: 'Cluster', max: 1, floor: 1 }] })];
    const [known, slow] = [stand('a'), stand('b')];
    const { reconcile } = bed([known, slow]);
    slow.adopts = false;
    for (let round = 0; round < 4; round += 1) await reconcile(one);
    expect(sharePut(known)).toBe(0);
    slow.adopts = true;
    slow.reading = { allowance: adopting(slow.written.at(-1) as FleetAllowanceSpec) };
    await reconcile(one);
    await reconcile(one);
    expect(sharePut(known)).toBe(1);
  });

  it('counts a write without an answer until it is read', async () => {
    const [a, b] = [stand('a'), stand('b')];
    const one = [fleetPolicy({ concurrency: [{ name: 'clusters', per: 'Cluster', max: 1, floor: 1 }] })];
    const { reconcile } = bed([a, b]);
    await reconcile(one);
    a.answer = 'Lost';
    await reconcile(one);
    expect(sharePut(a)).toBe(1);
    a.reading = { because: 'no route' };
    await reconcile(one);
    expect(sharePut(b)).toBe(0);
  });

  it('sends a write without an answer again, and takes the next number', async () => {
    const port = stand('a');
    const { reconcile, clock } = bed([port]);
    port.answer = 'Lost';
    await reconcile();
    await reconcile();
    expect(port.written).toHaveLength(1);
    port.answer = 'Written';
    await clock.advance(10_000);
    await reconcile();
    expect(port.written.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('sends a cluster that got a share to the end of the queue', async () => {
    const port = stand('a');
    const { reconcile, clock } = bed([port]);
    const since = async () => (await reconcile()).input.clusters[0]?.requestedSince;
    await reconcile();
    request(port);
    const first = await since();
    await clock.advance(5000);
    request(port);
    expect(+((await since()) ?? 0)).toBeGreaterThan(+(first ?? 0));
    await clock.advance(5000);
    request(port, 0);
    expect(await since()).toBeUndefined();
  });

  it('continues its numbers when a person deletes the allowance, because no lower one is adopted', async () => {
    const port = stand('a');
    const { reconcile, clock } = bed([port]);
    await reconcile();
    await reconcile();
    port.reading = { allowance: 'None' };
    await clock.advance(10_000);
    await reconcile();
    expect(port.written.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('leaves a cluster alone that another hub serves, until that has ended', async () => {
    const port = stand('a', fleetAllowance({ hub: 'hub-2' }));
    const { reconcile, clock } = bed([port]);
    const { input } = await reconcile();
    expect(input.clusters[0]).toMatchObject({
      state: 'OtherHub',
      because: expect.stringContaining('hub hub-2') as string,
    });
    expect(port.written).toEqual([]);
    await clock.advance(361_000);
    await reconcile();
    expect(port.written).toHaveLength(1);
  });

  it('asks for a higher epoch where a restored hub gives one again', async () => {
    const port = stand('a', fleetAllowance({ epoch: 5 }));
    const { reconcile } = bed([port], 5);
    expect((await reconcile()).epochAbove).toBe(5);
    expect(port.written).toEqual([]);
  });

  it('takes what is there back when no policy is left, once', async () => {
    const port = stand('a');
    const { reconcile, clock } = bed([port]);
    await reconcile();
    await reconcile([]);
    expect(port.written.at(-1)).toMatchObject({ limits: [], killSwitch: { engaged: false } });
    await clock.advance(600_000);
    await reconcile([]);
    expect(port.written).toHaveLength(2);
  });

  it('carries the stop to every cluster at once', async () => {
    const ports = ['a', 'b'].map((name) => stand(name));
    const { reconcile } = bed(ports);
    await reconcile();
    const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'x' } as const;
    await reconcile([fleetPolicy(), fleetPolicy({ concurrency: [], killSwitch }, 'kill-switch')]);
    expect(ports.map(({ written }) => written.at(-1)?.killSwitch)).toEqual([killSwitch, killSwitch]);
  });
});
