import { describe, expect, it } from 'vitest';
import { hostKeyText } from '../../../../src/providers/ssh/pool/host.ts';
import { POOL_KEY, readPool } from '../../../../src/providers/ssh/pool/pool.ts';
import { HOST_KEYS, poolObject } from './bed.ts';

const HOST = { address: '10.4.7.3' };

function problemsOf(content: object): readonly string[] {
  return readPool('rack7', [poolObject('rack7', content)]).problems;
}

describe('readPool', () => {
  it('takes what a host leaves out from the pool', () => {
    const { hosts, problems } = readPool('rack7', [
      poolObject('rack7', {
        port: 2022,
        hosts: [HOST, { ...HOST, address: '10.4.7.4', port: 22, user: 'root' }],
      }),
    ]);
    expect(problems).toEqual([]);
    expect(hosts).toMatchObject([
      { address: '10.4.7.3', port: 2022, user: 'admin', hostKeys: HOST_KEYS, labels: {} },
      {
        address: '10.4.7.4',
        port: 22,
        user: 'root',
        credentialsRef: { name: 'rack7-ssh', key: 'ssh-privatekey' },
      },
    ]);
  });

  it('puts the ConfigMaps of a pool together, and leaves out those of other pools', () => {
    const objects = [
      poolObject('rack7', { hosts: [{ address: '10.4.7.4' }] }, 'rack7-2'),
      poolObject('rack7', { hosts: [HOST] }, 'rack7-1'),
      poolObject('rack8', { hosts: [{ address: '10.4.8.1' }] }),
    ];
    expect(readPool('rack7', objects).hosts.map(hostKeyText)).toEqual(['10.4.7.3:22', '10.4.7.4:22']);
  });

  it('names a host that is listed twice, in whatever form, and uses it once', () => {
    const entries = [{ address: 'N3.example.com' }, { address: 'n3.example.com.' }, HOST];
    const { hosts, problems } = readPool('rack7', [poolObject('rack7', { hosts: entries })]);
    expect([hosts.length, problems]).toEqual([2, ['pool rack7: n3.example.com:22 is listed twice']]);
  });

  it.each<[string, unknown, string]>([
    ['no object', 'n1', 'expected an object for each host'],
    ['no address', {}, 'a host: expected a text as address'],
    ['an option as address', { address: '-oProxyCommand=x' }, 'expected a host name or an IP address'],
    ['a port as text', { ...HOST, port: '22' }, '10.4.7.3: expected a number as port'],
    ['a port out of range', { ...HOST, port: 70_000 }, 'expected a port from 1 to 65535'],
    ['a user with a space', { ...HOST, user: 'a b' }, 'expected a user'],
    ['no key', { ...HOST, hostKeys: [] }, 'expected 1 to 8 hostKeys'],
    [
      'a key that is not a fingerprint',
      { ...HOST, hostKeys: [{ algorithm: 'ssh-rsa', fingerprint: 'x' }] },
      'hostKeys',
    ],
    ['a key of an old type', { ...HOST, hostKeys: [{ ...HOST_KEYS[0], algorithm: 'ssh-dss' }] }, 'hostKeys'],
    ['no Secret', { ...HOST, credentialsRef: {} }, 'expected credentialsRef'],
    ['a number as label', { ...HOST, labels: { gen: 3 } }, 'quote numbers'],
    ['a number as zone', { ...HOST, zone: 3 }, 'expected a text as zone'],
  ])('names a host with %s, and uses the others', (_, entry, reason) => {
    const content = { hosts: [entry, { address: '10.4.7.9' }] };
    expect(problemsOf(content)).toEqual([expect.stringContaining(reason)]);
    expect(readPool('rack7', [poolObject('rack7', content)]).hosts).toHaveLength(1);
  });

  it.each(['', '{', '[]', '{"hosts": 3}'])('names a ConfigMap with %j', (text) => {
    const object = { ...poolObject('rack7', {}), data: { [POOL_KEY]: text } };
    expect(readPool('rack7', [object])).toEqual({
      hosts: [],
      problems: ['ConfigMap rack7: expected hosts.json with a list "hosts"'],
    });
  });
});
