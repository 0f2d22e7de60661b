import { describe, expect, it } from 'vitest';
import { readPluginMonitor } from '../../../../src/agent/detector/config/plugin-monitor.ts';
import { pluginMonitor } from '../../../support/agent/detector-config.ts';

const [rule] = pluginMonitor['rules'] as readonly object[];

describe('plug-in monitor', () => {
  it('reads all fields, and gives rules what they do not have', () => {
    expect(readPluginMonitor(pluginMonitor, 'ntp.json')).toMatchObject({
      kind: 'Plugin',
      source: 'ntp-monitor',
      maxOutputLength: 80,
      concurrency: 2,
      reportsMessageChanges: false,
      skipsInitialStatus: false,
      rules: [
        { condition: 'NTPProblem', reason: 'NTPIsDown', args: [], timeoutMs: 3000, intervalMs: 30_000 },
        { reason: 'NTPIsSlow', args: ['--slow'], timeoutMs: 20_000, intervalMs: 30_000 },
      ],
    });
  });

  it('has the defaults of node-problem-detector', () => {
    expect(readPluginMonitor({ ...pluginMonitor, pluginConfig: {} }, '')).toMatchObject({
      maxOutputLength: 80,
      concurrency: 3,
      rules: [{ timeoutMs: 3000 }, { timeoutMs: 5000, intervalMs: 30_000 }],
    });
  });

  it.each([
    [{ args: ['--component=kubelet', '--enable-repair=true'] }],
    [{ args: ['-enable-repair'] }],
    [{ args: ['--enable-repair=false', '--enable-repair=1'] }],
    [{ path: '/home/kubernetes/bin/health-checker', args: ['--component=kubelet'] }],
  ])('refuses a plug-in that repairs: %j', (change) => {
    expect(() => read(change)).toThrow('rules[0] (NTPIsDown).args: the detector never repairs');
  });

  it('accepts the health checker when it only checks', () => {
    const args = ['--component=kubelet', '--enable-repair=false'];
    expect(read({ path: '/bin/health-checker', args }).rules[0]).toMatchObject({ args });
  });

  it.each([
    [{ timeout: '30s' }, 'timeout: longer than pluginConfig.timeout'],
    [{ timeout: '0' }, 'timeout: expected a duration above 0'],
    [{ path: 'check' }, 'path: expected an absolute path, got "check"'],
    [
      { path: './config/plugin/check.ps1' },
      'path: "./config/plugin/check.ps1" is a path of Windows: use a file for Linux',
    ],
    [{ path: 'C:\\bin\\health-checker.exe' }, 'is a path of Windows: use a file for Linux'],
    [{ args: [1] }, 'args: expected texts, got 1'],
    [{ pattern: 'x' }, 'unknown field pattern'],
    [{ condition: 'Other' }, 'condition: Other is not in the list'],
  ])('refuses a rule with %j', (change, problem) => {
    expect(() => read(change)).toThrow(problem);
  });
});

describe('rights of plug-ins', () => {
  it('are those of the host where a file declares none', () => {
    expect(readPluginMonitor(pluginMonitor, '')).not.toHaveProperty('rights');
  });

  it.each([
    [{}, { user: 'root', capabilities: [] }],
    [{ user: 'nobody' }, { user: 'nobody', capabilities: [] }],
    [{ capabilities: ['CAP_NET_ADMIN'] }, { user: 'root', capabilities: ['CAP_NET_ADMIN'] }],
    [
      { user: '65534', capabilities: ['CAP_SYSLOG', 'CAP_SYS_PTRACE'] },
      { user: '65534', capabilities: ['CAP_SYSLOG', 'CAP_SYS_PTRACE'] },
    ],
  ])('are no more than the file declares: %j', (rights, expected) => {
    expect(readRights(rights)).toEqual(expected);
  });

  it.each([
    ['none', 'rights: expected an object, got "none"'],
    [null, 'rights: expected an object, got null'],
    [{ users: 'nobody' }, 'rights: unknown field users'],
    [{ user: '-u 0' }, 'rights.user: expected the name of a user, got "-u 0"'],
    [
      { capabilities: ['net_admin'] },
      'rights.capabilities: expected names such as CAP_NET_ADMIN, got "net_admin"',
    ],
    [{ capabilities: ['~CAP_NET_ADMIN'] }, 'expected names such as CAP_NET_ADMIN'],
    [{ capabilities: 'CAP_NET_ADMIN' }, 'rights.capabilities: expected a list'],
  ])('keep the whole file out of use when they are wrong: %j', (rights, problem) => {
    expect(() => readRights(rights)).toThrow(problem);
  });
});

function readRights(rights: unknown): ReturnType<typeof readPluginMonitor>['rights'] {
  return readPluginMonitor({ ...pluginMonitor, rights }, '').rights;
}

function read(change: object): ReturnType<typeof readPluginMonitor> {
  return readPluginMonitor({ ...pluginMonitor, rules: [{ ...rule, ...change }] }, 'ntp.json');
}
