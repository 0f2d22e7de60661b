import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentUnitOptions, formatAgentUnit } from '../../../src/agent/install/own-unit.ts';
import { tempFolder } from '../../support/temp.ts';

const reason = missingReason();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const unit = (options: Partial<AgentUnitOptions> = {}): string =>
  formatAgentUnit({ machine: 'n1', node: process.execPath, program: '/opt/agent.mjs', port: 0, ...options });

/** The settings of the unit that systemd.unit, systemd.service, systemd.exec and systemd.resource-control of version 239 describe. */
const KNOWN_IN_239 = new Set(
  `Description After Before StartLimitIntervalSec Type ExecStartPre ExecStart Restart RestartSec TimeoutStopSec KillMode MemoryHigh
  MemoryMax TasksMax CPUWeight OOMScoreAdjust CapabilityBoundingSet AmbientCapabilities NoNewPrivileges ProtectKernelTunables
  ProtectControlGroups RestrictNamespaces RestrictRealtime LockPersonality KeyringMode RemoveIPC RestrictAddressFamilies
  SystemCallArchitectures SystemCallFilter SystemCallErrorNumber UMask WantedBy`.split(/\s+/),
);

describe('the systemd unit of the agent', () => {
  it.each([
    ['plain', '/etc/b.json', ' --bootstrap /etc/b.json\n'],
    ['with a blank', '/etc/my file', ' --bootstrap "/etc/my file"\n'],
    ['that systemd would expand', '/etc/%h/$HOME', ' --bootstrap /etc/%%h/$$HOME\n'],
    ['with a quote', '/etc/"b"\\', String.raw` --bootstrap "/etc/\"b\"\\"` + '\n'],
  ])('names a file %s so that systemd reads it as it is', (_, bootstrap, line) => {
    expect(unit({ bootstrap })).toContain(line);
  });

  it('AGT-43 ends after the watchdog of its upgrade at a shutdown: it is not taken for a crash', () => {
    expect(unit()).toMatch(/^Before=kubenode-agent-watchdog\.service$/m);
  });

  it('has only three settings that systemd 239 does not know: it warns, and ignores them', () => {
    const settings = [...unit().matchAll(/^(?<name>[A-Z]\w+)=(?<value>.*)$/gm)].map(
      ({ groups = {} }) => groups,
    );
    const newer = settings.filter(
      ({ name = '', value }) => !KNOWN_IN_239.has(name) || (name === 'Type' && value === 'exec'),
    );
    expect(newer.map(({ name, value }) => `${name}=${value}`)).toEqual([
      'Type=exec',
      'ProtectHostname=yes',
      'RestrictSUIDSGID=yes',
    ]);
  });

  it('starts a program that has Node.js inside without any', () => {
    const text = formatAgentUnit({ machine: 'n1', program: '/opt/kubenode-agent', port: 0 });
    expect(text).toContain(
      '\nExecStart=/var/lib/kubenode/agent/program run --machine n1 --host systemd --port 0\n',
    );
  });

  it('says why for everything that stays open', () => {
    const text = unit();
    const open = ['ProtectSystem', 'PrivateTmp', 'MemoryDenyWriteExecute', 'PrivateDevices', 'ProtectProc'];
    expect(open.filter((name) => new RegExp(`^${name}=`, 'm').test(text))).toEqual([]);
    expect(open.filter((name) => !new RegExp(`^# Not set: .*${name}`, 'm').test(text))).toEqual([]);
  });
});

describe.skipIf(reason)(`systemd-analyze${reason ? ` (${reason})` : ''}`, () => {
  it('accepts the unit without a warning', () => {
    expect(analyze('verify')).toEqual({ code: 0, output: '' });
  });

  it('rates its exposure at most 4.5 of 10', () => {
    expect(analyze('security', '--offline=true', '--threshold=45')).toMatchObject({ code: 0 });
  });
});

function analyze(...args: string[]): { readonly code: number | null; readonly output: string } {
  const file = join(tempFolder('unit'), 'kubenode-agent.service');
  writeFileSync(file, unit({ bootstrap: '/etc/my %file' }));
  const ran = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  return { code: ran.status, output: ran.stdout + ran.stderr };
}

function missingReason(): string | undefined {
  const { error, stdout } = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
  if (error) return 'systemd-analyze is not installed';
  const version = Number(/systemd (?<number>\d+)/.exec(stdout)?.groups?.['number']);
  return version >= 250 ? undefined : `expected systemd 250 or later, found ${version}`;
}
