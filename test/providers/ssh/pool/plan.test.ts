import { describe, expect, it } from 'vitest';
import { hostKeyText, type PoolContent } from '../../../../src/providers/ssh/pool/host.ts';
import { chooseHost } from '../../../../src/providers/ssh/pool/plan.ts';
import { readPool } from '../../../../src/providers/ssh/pool/pool.ts';
import { hosts, poolObject } from './bed.ts';

const POOL = poolOf(
  hosts(3, (index) => ({ zone: index === 2 ? 'b' : 'a', labels: { disk: index === 0 ? 'nvme' : 'ssd' } })),
);

function poolOf(list: readonly unknown[]): PoolContent {
  return readPool('rack7', [poolObject('rack7', { hosts: list })]);
}

interface Asked {
  readonly labels?: Readonly<Record<string, string>>;
  readonly zone?: string;
  readonly taken?: readonly number[];
  readonly pool?: PoolContent;
}

function choose({ labels = {}, zone, taken = [], pool = POOL }: Asked): string {
  const holders = new Map(
    pool.hosts.flatMap((host, index) =>
      taken.includes(index) ? [[hostKeyText(host), `n${index}`] as const] : [],
    ),
  );
  const selector = { pool: 'rack7', labels, ...(zone === undefined ? {} : { zone }) };
  const choice = chooseHost({ selector, pool, machineUid: 'uid-1', holders });
  return choice.type === 'Take' ? choice.host.address : choice.because;
}

describe('chooseHost', () => {
  it.each<[string, Asked, string]>([
    ['the only host with the labels', { labels: { disk: 'nvme' } }, '10.0.0.1'],
    ['the only host in the zone', { zone: 'b' }, '10.0.0.3'],
    ['the only host that is free', { taken: [0, 2] }, '10.0.0.2'],
    [
      'none when all are taken, with their Machines and what to do',
      { taken: [0, 1, 2] },
      'no host of pool rack7 is free: 3 match, and belong to n0, n1, n2. Add hosts to the pool, or lower replicas',
    ],
    [
      'none when those that match are taken',
      { zone: 'a', labels: { disk: 'ssd' }, taken: [1] },
      'no host of pool rack7 with zone a, disk=ssd is free: 1 match, and belong to n1. Add hosts to the pool, or lower replicas',
    ],
    [
      'none when none matches',
      { zone: 'c' },
      'pool rack7 has no host with zone c: add one to the ConfigMaps with the label kubenode.dev/host-pool=rack7',
    ],
    [
      'none of a pool that cannot be read, and why',
      { pool: poolOf([{ address: '-oProxyCommand=x' }, 3]) },
      'pool rack7 has no host: add one to the ConfigMaps with the label kubenode.dev/host-pool=rack7. Not usable: ConfigMap rack7: -oProxyCommand=x: expected a host name or an IP address and 1 more',
    ],
  ])('takes %s', (_, asked, want) => {
    expect(choose(asked)).toBe(want);
  });

  it('names the first five Machines of many', () => {
    const pool = poolOf(hosts(8));
    const text = choose({ pool, taken: [0, 1, 2, 3, 4, 5, 6, 7] });
    expect(text).toContain('8 match, and belong to n0, n1, n2, n3, n4 and 3 more');
  });

  it('begins with different hosts for different Machines', () => {
    const pool = poolOf(hosts(50));
    const chosen = Array.from({ length: 50 }, (_, index) =>
      chooseHost({
        selector: { pool: 'rack7', labels: {} },
        pool,
        machineUid: `uid-${index}`,
        holders: new Map(),
      }),
    );
    const addresses = chosen.flatMap((each) => (each.type === 'Take' ? [each.host.address] : []));
    expect(addresses).toHaveLength(50);
    expect(new Set(addresses).size).toBeGreaterThan(20);
  });
});
