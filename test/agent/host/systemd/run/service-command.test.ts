import { describe, expect, it } from 'vitest';
import type { ProgramRights } from '../../../../../src/agent/host/port.ts';
import {
  type ServiceRun,
  serviceCommand,
  serviceOutcome,
} from '../../../../../src/agent/host/systemd/run/service-command.ts';

const RUN: ServiceRun = {
  unit: 'kubenode-plugin-1.service',
  argv: ['/opt/check', '$HOME', '%n', ''],
  limits: { timeoutMs: 1500, maxOutputBytes: 10, onlyStdout: true },
  environment: { LANG: 'C.UTF-8' },
};
const RESULT = { exitCode: 0, timedOut: false, output: 'all is well', truncated: false };
const SIGNALS = { SIGHUP: 1, SIGKILL: 9, SIGTERM: 15 };

describe('serviceCommand', () => {
  it('runs a program with all rights in its own service, within the slice of all plug-ins', () => {
    expect(serviceCommand(RUN)).toEqual([
      'systemd-run',
      '--pipe',
      '--wait',
      '--quiet',
      '--collect',
      '--no-ask-password',
      '--unit=kubenode-plugin-1.service',
      '--slice=kubenode-plugins.slice',
      '--description=Plug-in /opt/check',
      '--setenv=LANG=C.UTF-8',
      '--property=MemoryMax=256M',
      '--property=MemorySwapMax=0',
      '--property=TasksMax=256',
      '--property=KillSignal=SIGKILL',
      '--property=TimeoutStopSec=1',
      '--property=LogLevelMax=notice',
      '--property=RuntimeMaxSec=2500ms',
      '--',
      '/bin/sh',
      '-c',
      'trap : HUP INT TERM; exec 3>&2 2>/dev/null; "$$0" "$$@" 3>&-; echo "$$?" >&3',
      '/opt/check',
      '$$HOME',
      '%n',
      '',
    ]);
  });

  it('gives both streams where both are asked for', () => {
    const { onlyStdout: _, ...limits } = RUN.limits;
    expect(serviceCommand({ ...RUN, limits }).join(' ')).toContain('exec 3>&2 2>&1;');
  });

  it.each<[ProgramRights, readonly string[]]>([
    [{}, []],
    [
      { user: 'nobody', capabilities: [] },
      ['User=nobody', 'CapabilityBoundingSet=', 'AmbientCapabilities=', 'NoNewPrivileges=yes'],
    ],
    [
      { user: 'nobody' },
      ['User=nobody', 'CapabilityBoundingSet=', 'AmbientCapabilities=', 'NoNewPrivileges=yes'],
    ],
    [
      { capabilities: ['CAP_NET_ADMIN', 'CAP_SYSLOG'] },
      [
        'User=root',
        'CapabilityBoundingSet=CAP_NET_ADMIN CAP_SYSLOG',
        'AmbientCapabilities=CAP_NET_ADMIN CAP_SYSLOG',
        'NoNewPrivileges=yes',
      ],
    ],
  ])('takes everything away that is not declared: %j', (rights, expected) => {
    const words = serviceCommand({ ...RUN, limits: { ...RUN.limits, rights } });
    const own = words.filter((word) => /=(User|Capability|Ambient|NoNew)/.test(word));
    expect(own).toEqual(expected.map((each) => `--property=${each}`));
  });
});

describe('serviceOutcome', () => {
  it.each([
    ['the exit code of the program', RESULT, '0\n', RESULT],
    ['another exit code', RESULT, '3\n', { ...RESULT, exitCode: 3 }],
    ['the last line, after a warning', RESULT, 'Warning: old option 7\n1\n', { ...RESULT, exitCode: 1 }],
    [
      'a signal that ended the program',
      RESULT,
      '143\n',
      { timedOut: false, output: 'all is well', truncated: false, signal: 'SIGTERM' },
    ],
    ['an exit code above 128 without a signal', RESULT, '255\n', { ...RESULT, exitCode: 255 }],
    [
      'a time limit',
      { ...RESULT, exitCode: undefined, signal: 'SIGKILL', timedOut: true },
      '',
      { ...RESULT, exitCode: undefined, signal: 'SIGKILL', timedOut: true },
    ],
    [
      'a service that was killed as a whole, never exit code 1',
      { ...RESULT, exitCode: 1 },
      '',
      { timedOut: false, output: 'all is well', truncated: false, signal: 'unknown' },
    ],
    [
      'the same in a newer systemd',
      { ...RESULT, exitCode: 255 },
      '',
      { timedOut: false, output: 'all is well', truncated: false, signal: 'unknown' },
    ],
  ])('is %s', (_, result, printed, expected) => {
    expect(serviceOutcome(result as never, printed, SIGNALS)).toEqual(expected);
  });

  const HINT =
    'Check that D-Bus runs (systemctl status dbus) and that systemd starts services (systemd-run --wait true)';

  it.each([
    [
      'no D-Bus',
      { ...RESULT, exitCode: 1 },
      'Failed to connect to bus: No such file or directory\n',
      `Failed to connect to bus: No such file or directory. ${HINT}`,
    ],
    [
      'no systemd-run',
      { ...RESULT, exitCode: 127, output: 'spawn systemd-run ENOENT' },
      '',
      `spawn systemd-run ENOENT. ${HINT}`,
    ],
    [
      'no such user',
      { ...RESULT, exitCode: 217 },
      '',
      "it could not prepare the process (exit code 217). Find the cause with: journalctl -u 'kubenode-plugin-*'",
    ],
  ])('names what to do where systemd starts nothing: %s', (_, result, printed, refused) => {
    expect(serviceOutcome(result, printed, SIGNALS)).toEqual({ refused });
  });
});
