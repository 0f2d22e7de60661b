import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFacts } from '../../../../src/providers/ssh/preflight/facts.ts';
import { hostFacts, hostOutput } from './host-output.ts';

describe('parseFacts', () => {
  it('reads numbers, lists, quoted texts and ports', () => {
    expect(hostFacts({ listens: ['280A', '280A', '0016'], swap: ['/dev/sda2', '/swapfile'] })).toMatchObject({
      uid: 0,
      time: new Date(1_795_000_000_000),
      release: { id: 'debian', version: '12', name: 'Debian GNU/Linux 12 (bookworm)' },
      systemUuid: '4c4c4544-0042-3510-8053-b4c04f4a3233',
      cgroupControllers: ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids', 'rdma', 'misc'],
      space: { '/var/lib': { total: 100_000_000, free: 50_000_000 } },
      listens: [10_250, 22],
      swaps: ['/dev/sda2', '/swapfile'],
      sysctls: { 'net.ipv4.ip_forward': 1 },
    });
  });

  it('has no value for what the host did not tell, or told as nonsense', () => {
    const facts = hostFacts({
      uid: 'x',
      time: '',
      sockets: [],
      'space-kib./var/lib': ' ',
      'systemd-version': [],
    });
    expect(facts.space).not.toHaveProperty('/var/lib');
    for (const name of ['uid', 'time', 'listens', 'systemdVersion']) expect(facts).not.toHaveProperty(name);
  });

  it('tells a name that does not resolve from one that was not looked up', () => {
    expect(hostFacts({ 'api-address': '' }).apiAddress).toBe('');
    expect(hostFacts({ 'api-address': [] })).not.toHaveProperty('apiAddress');
  });

  it('refuses an output that is cut off', () => {
    expect(parseFacts(hostOutput().replace('end=complete', ''))).toBeUndefined();
    expect(parseFacts('')).toBeUndefined();
  });

  it('reads whatever a host prints', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (lines) => {
        const output = [...lines, 'end=complete'].join('\n');
        expect(parseFacts(output)).toHaveProperty('hasSystemd');
      }),
    );
  });
});
