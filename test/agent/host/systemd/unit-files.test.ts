import { describe, expect, it } from 'vitest';
import type { UnitDefinition } from '../../../../src/agent/host/port.ts';
import { hasAgentHeader, unitFiles } from '../../../../src/agent/host/systemd/unit-files.ts';
import { agentUnit } from '../../../support/agent/targets.ts';

const FILE = '/etc/systemd/system/proxy.service';

function linesOf(unit: UnitDefinition): readonly string[] {
  return unitFiles(unit)[0]?.content.split('\n') ?? [];
}

function exec(fields: Partial<NonNullable<UnitDefinition['exec']>>): Partial<UnitDefinition> {
  return { exec: { argv: ['/opt/proxy'], env: {}, user: 'root', ...fields } };
}

function withoutExec(fields: Partial<UnitDefinition>): UnitDefinition {
  const { exec: _exec, ...unit } = agentUnit('proxy', fields);
  return unit;
}

describe('unitFiles', () => {
  it('makes a whole unit from exec, in a file that is marked as ours', () => {
    const files = unitFiles(
      agentUnit('proxy', exec({ argv: ['/opt/proxy', '--port', '80'], user: 'daemon' })),
    );
    expect(files.map(({ path }) => path)).toEqual([FILE]);
    expect(hasAgentHeader(new TextEncoder().encode(files[0]?.content))).toBe(true);
    expect(files[0]?.content).toBe(`# Written by the kubenode agent, which overwrites changes.
[Unit]
Description=proxy (kubenode component proxy)
After=network.target
StartLimitIntervalSec=60
StartLimitBurst=11

[Service]
Type=exec
Restart=always
RestartSec=5
RestartPreventExitStatus=200 203 217
ExecStart="/opt/proxy" "--port" "80"
User=daemon
KillSignal=SIGTERM
TimeoutStopSec=30

[Install]
WantedBy=multi-user.target
`);
  });

  it.each<[name: string, fields: Partial<UnitDefinition>, expected: readonly string[]]>([
    [
      'specifiers and variables',
      exec({ argv: ['/p', '%n $HOME ${A}'] }),
      ['ExecStart="/p" "%%n $$HOME $${A}"'],
    ],
    ['quotes and backslashes', exec({ argv: ['/p', 'a"b\\c'] }), ['ExecStart="/p" "a\\"b\\\\c"']],
    ['lines and tabs', exec({ argv: ['/p', 'a\nb\tc'] }), ['ExecStart="/p" "a\\nb\\tc"']],
    ['an empty argument', exec({ argv: ['/p', ''] }), ['ExecStart="/p" ""']],
    ['values of variables', exec({ env: { A: 'b "c" %i $d' } }), ['Environment="A=b \\"c\\" %%i $d"']],
    ['a directory', exec({ workingDirectory: '/srv/%x' }), ['WorkingDirectory=/srv/%%x']],
    ['a signal that reloads', { reload: { signal: 'USR1' } }, ['ExecReload=/bin/kill -s USR1 $MAINPID']],
    ['a program that reloads', { reload: { argv: ['/r', '$1'] } }, ['ExecReload="/r" "$$1"']],
    [
      'a OneShot with its time limit',
      { type: 'OneShot', timeoutSeconds: 7 },
      ['Type=oneshot', 'RemainAfterExit=yes', 'TimeoutStartSec=7'],
    ],
    [
      'restarts',
      { restart: { policy: 'OnFailure', delaySeconds: 1, maxPerMinute: 2 } },
      ['Restart=on-failure', 'RestartSec=1', 'StartLimitBurst=3'],
    ],
    [
      'how it is stopped',
      { stop: { signal: 'INT', timeoutSeconds: 3 } },
      ['KillSignal=SIGINT', 'TimeoutStopSec=3'],
    ],
  ])('writes %s', (_, fields, expected) => {
    expect(linesOf(agentUnit('proxy', fields))).toEqual(expect.arrayContaining([...expected]));
  });

  it('writes the text of a unit as it is, with a last line that ends', () => {
    const [file] = unitFiles(withoutExec({ raw: '[Service]\nExecStart=/p %n' }));
    expect(file?.content.split('\n').slice(1)).toEqual(['[Service]', 'ExecStart=/p %n', '']);
  });

  it('writes only drop-ins for a unit of the host, and how it reloads in one of its own', () => {
    const dropIns = [{ name: 'limits', content: '[Service]\nLimitNOFILE=1\n' }];
    const files = unitFiles(withoutExec({ existing: true, dropIns, reload: { signal: 'HUP' } }));
    expect(files.map(({ path }) => path)).toEqual([
      `${FILE}.d/limits.conf`,
      `${FILE}.d/kubenode-reload.conf`,
    ]);
    expect(files[1]?.content).toContain('ExecReload=\nExecReload=/bin/kill -s HUP $MAINPID\n');
  });
});
