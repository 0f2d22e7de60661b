import { App, Chart, Testing } from 'cdk8s';
import { describe, expect, it } from 'vitest';
import { HostPool, type HostPoolProps } from '../../src/constructs/host-pool.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { hostKeyText } from '../../src/providers/ssh/pool/host.ts';
import { readPool } from '../../src/providers/ssh/pool/pool.ts';

const HOST_KEYS = [
  { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:2bXyRkPZ5mC0d1uHn6Vt8q3WfLr7sJg9aKzTeNvQpYc' },
];
const ACCESS = { user: 'admin', credentialsRef: { name: 'rack7-ssh' } };

function synth(props: Partial<HostPoolProps>): readonly KubeObject[] {
  const chart = new Chart(new App(), 'machines');
  const { objects } = new HostPool(chart, 'rack7', { name: 'rack7', ...ACCESS, hosts: [], ...props });
  const rendered = Testing.synth(chart) as readonly KubeObject[];
  expect(rendered).toHaveLength(objects.length);
  return rendered;
}

describe('HostPool', () => {
  it('is read by provider ssh as it was declared', () => {
    const hosts = [
      { address: '10.4.7.3', hostKeys: HOST_KEYS, zone: 'a', labels: { disk: 'nvme' } },
      { address: '10.4.7.4', hostKeys: HOST_KEYS, port: 2022, user: 'root' },
    ];
    const pool = readPool('rack7', synth({ hosts }));
    expect(pool.problems).toEqual([]);
    expect(pool.hosts).toMatchObject([
      { address: '10.4.7.3', port: 22, user: 'admin', zone: 'a', labels: { disk: 'nvme' } },
      { address: '10.4.7.4', port: 2022, user: 'root', labels: {} },
    ]);
  });

  it('is written to several objects when it is large, none above 64 KiB', () => {
    const hosts = Array.from({ length: 500 }, (_, index) => ({
      address: `host-${index}.rack7.example.com`,
      hostKeys: Array.from({ length: 3 }, () => HOST_KEYS).flat(),
    }));
    const objects = synth({ hosts });
    expect(new Set(objects.map(({ metadata }) => metadata.name)).size).toBe(9);
    // No other pool can have this name.
    expect(objects[1]?.metadata.name).toBe('rack7.2');
    expect(Math.max(...objects.map((object) => JSON.stringify(object).length))).toBeLessThan(65_536);
    expect(new Set(readPool('rack7', objects).hosts.map(hostKeyText)).size).toBe(500);
  });

  it.each<[string, Partial<HostPoolProps>, string]>([
    [
      'a host that is listed twice',
      {
        hosts: [
          { address: 'N1', hostKeys: HOST_KEYS },
          { address: 'n1', hostKeys: HOST_KEYS },
        ],
      },
      'HostPool rack7: n1:22 is listed twice',
    ],
    [
      'a host that names the port of its pool',
      {
        port: 2022,
        hosts: [
          { address: 'n1', hostKeys: HOST_KEYS },
          { address: 'n1', port: 2022, hostKeys: HOST_KEYS },
        ],
      },
      'HostPool rack7: n1:2022 is listed twice',
    ],
    [
      'a host without a Secret',
      { credentialsRef: undefined, hosts: [{ address: 'n1', hostKeys: HOST_KEYS }] } as object,
      'n1: expected credentialsRef',
    ],
    ['a host without keys', { hosts: [{ address: 'n1', hostKeys: [] }] }, 'n1: expected at least one key'],
  ])('refuses %s', (_, props, message) => {
    expect(() => synth(props)).toThrow(message);
  });
});
