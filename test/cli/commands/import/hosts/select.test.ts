import { describe, expect, it } from 'vitest';
import { type HostSources, selectHosts } from '../../../../../src/cli/commands/import/hosts/select.ts';
import { describeError } from '../../../../../src/cli/errors.ts';

const DEFAULTS = { port: 22, user: 'root' };

function refusal(sources: Partial<HostSources>): { text: string; exitCode: number } | undefined {
  try {
    selectHosts({ args: [], defaults: DEFAULTS, ...sources });
  } catch (error) {
    return describeError(error);
  }
  return undefined;
}

describe('selectHosts', () => {
  it('puts arguments and file together, and gives hosts without a jump host that of the flag', () => {
    const via = { address: 'bastion', port: 22, user: 'root' };
    const file = { path: 'hosts.yaml', text: 'hosts: [{address: n2}, {address: n3, via: {address: other}}]' };
    const hosts = selectHosts({ args: ['admin@n1:2022'], file, defaults: DEFAULTS, via });
    expect(hosts.map((host) => [host.target.address, host.via?.target.address])).toEqual([
      ['n1', 'bastion'],
      ['n2', 'bastion'],
      ['n3', 'other'],
    ]);
  });

  it('gives all hosts the labels of the flag, and keeps those that the file has under the same key', () => {
    const text = 'hosts: [{address: n2, labels: {pool: own, rack: "7"}}]';
    const file = { path: 'hosts.yaml', text };
    const labels = { pool: 'general', team: 'a' };
    const hosts = selectHosts({ args: ['n1'], file, defaults: DEFAULTS, labels });
    expect(hosts.map((host) => host.labels)).toEqual([labels, { pool: 'own', team: 'a', rack: '7' }]);
    const [plain] = selectHosts({ args: ['n1'], defaults: DEFAULTS });
    expect(plain && 'labels' in plain).toBe(false);
  });

  it('refuses all that is wrong at once, with file and line', () => {
    const file = { path: 'hosts.yaml', text: 'hosts:\n  - {address: n2}\n  - {address: n3, port: 0}\n' };
    const { text, exitCode } = refusal({ args: ['-oProxyCommand=x', 'a b@n1'], file }) ?? {};
    expect(exitCode).toBe(65);
    expect(text).toContain(
      'error: expected a host name or an IP address\n  where: "-oProxyCommand=x"\n  hint: write the host as',
    );
    expect(text).toContain('where: "a b@n1"');
    expect(text).toContain('error: port: expected an integer from 1 to 65535, got 0\n  where: hosts.yaml:3');
  });

  it('MAC-21 refuses a host that is named twice', () => {
    expect(refusal({ args: ['N1', 'admin@n1:22'] })?.text).toBe(
      'error: the host is named twice\n  where: root@N1:22\n  hint: name it once',
    );
    expect(refusal({ args: ['n1', 'n1:23'] })).toBeUndefined();
  });

  it('takes the same address behind two jump hosts for two hosts, and behind one for one', () => {
    expect(refusal({ file: { path: 'f', text: behind('b1', 'b2') } })).toBeUndefined();
    expect(refusal({ file: { path: 'f', text: behind('b1', 'B1') } })?.text).toContain('named twice');
  });
});

function behind(one: string, other: string): string {
  return `hosts: [{address: 10.0.0.1, via: {address: ${one}}}, {address: 10.0.0.1, via: {address: ${other}}}]`;
}
