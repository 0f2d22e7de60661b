import { describe, expect, it } from 'vitest';
import { judgeHosts } from '../../../../../src/cli/commands/import/report/report.ts';
import { failed, importHost, inspected } from './hosts.ts';

const OPTIONS = { skipped: [], machines: [], server: { host: 'api.example.com', port: 6443 } };
const KEY = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:pinned' };

describe('judgeHosts', () => {
  it('judges each host, and names those that could not be checked', () => {
    const reports = judgeHosts(
      [
        inspected(importHost('n1', { name: 'first', hostKeys: [KEY] })),
        inspected(importHost('n2'), { cgroup: '1' }),
        inspected(importHost('n3'), { swap: '/swapfile', cgroup: '1' }),
        failed(importHost('n4', { name: 'fourth' }), 'Timeout'),
        inspected(importHost('n5'), { 'api-port': [] }),
      ],
      OPTIONS,
    );
    expect(reports.map(({ host, name, state }) => [host, name, state])).toEqual([
      ['root@n1:22', 'first', 'Pass'],
      ['root@n2:22', 'n2', 'Warn'],
      ['root@n3:22', 'n3', 'Fail'],
      ['root@n4:22', 'fourth', 'Error'],
      ['root@n5:22', 'n5', 'Warn'],
    ]);
    expect(reports.map(({ hostKeysPinned }) => hostKeysPinned)).toEqual([true, false, false, false, false]);
    expect(reports[0]?.hostKeys).toEqual([KEY]);
    expect(reports[3]?.error).toEqual({ code: 'Timeout', message: 'it failed', hint: 'fix it' });
  });

  it('MAC-21 finds a host that is named by two addresses, and one that is a Machine already', () => {
    const id = { 'machine-id': 'f'.repeat(32) };
    const machine = { label: 'Machine n3', hostName: 'n3', address: '10.0.0.3', port: 22, hostKeys: [] };
    const reports = judgeHosts(
      [
        inspected(importHost('n1'), id),
        inspected(importHost('n2'), id),
        inspected(importHost('10.0.0.3'), { hostname: 'n3' }),
      ],
      { ...OPTIONS, machines: [machine] },
    );
    const found = (index: number, check: string) =>
      reports[index]?.checks.find((each) => each.check === check)?.found;
    expect(found(0, 'DuplicateHost')).toBe(
      `host root@n2:22 is the same host: both have the machine id ${'f'.repeat(32)}`,
    );
    expect(found(1, 'DuplicateHost')).toContain('host root@n1:22 is the same host');
    expect(found(2, 'DuplicateHost')).toBe('Machine n3 is the same host: it has this address');
    expect(found(2, 'HostName')).toBe('n3: it is the name of Machine n3 too');
  });

  it('takes the Machine that an earlier call applied for the one of this host', () => {
    const host = importHost('n1');
    const machine = { label: 'Machine n1', hostName: 'n1', address: 'n1', port: 22, hostKeys: [] };
    const judge = (isApplied: boolean) =>
      judgeHosts([inspected(host, { path: '/var/lib/kubenode', process: 'kubelet' })], {
        ...OPTIONS,
        machines: [{ ...machine, isApplied }],
      })[0];
    expect(judge(true)?.state).toBe('Pass');
    expect(judge(false)?.state).toBe('Fail');
  });

  it('leaves out what is skipped, and lists it', () => {
    const [report] = judgeHosts([inspected(importHost('n1'), { swap: '/swapfile' })], {
      ...OPTIONS,
      skipped: ['Swap'],
    });
    expect(report).toMatchObject({ state: 'Pass', skippedChecks: ['Swap'] });
  });
});
