import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentArch } from '../../../scripts/agent/executable.ts';
import { CONFIG_TEXT, packageUnit } from '../../../scripts/agent/package-files.ts';
import { buildRpmPackage } from '../../../scripts/agent/rpm.ts';
import { tempFolder } from '../../support/temp.ts';

const missing = spawnSync('rpmbuild', ['--version']).error && 'rpmbuild is not installed: package rpm';
if (missing) process.stderr.write(`skipped: ${missing}\n`);

/** A program with something behind its sections, as the bundle is in the agent. */
const PROGRAM = Buffer.concat([readFileSync('/bin/true'), Buffer.from('bundle')]);
const FILES = [
  '-rw------- root /etc/kubenode/agent.env',
  '-rwxr-xr-x root /usr/bin/kubenode-agent',
  '-rw-r--r-- root /usr/lib/systemd/system/kubenode-agent.service',
];

describe.skipIf(missing)(`buildRpmPackage${missing ? ` (${missing})` : ''}`, () => {
  const files = new Map<AgentArch, string>();

  beforeAll(async () => {
    const folder = tempFolder('rpm');
    const program = join(folder, 'program');
    writeFileSync(program, PROGRAM);
    for (const arch of ['amd64', 'arm64'] as const) {
      files.set(arch, await buildRpmPackage({ program, folder, version: '1.2.3-rc.1', arch }));
    }
  });

  const query = (arch: AgentArch, ...args: readonly string[]): string =>
    rpm('-qp', ...args, files.get(arch) ?? '');

  it.each([
    ['amd64', 'x86_64'],
    ['arm64', 'aarch64'],
  ] as const)('names version and architecture for %s, and has digests that rpm verifies', (arch, name) => {
    const file = files.get(arch) ?? '';
    expect(file).toMatch(new RegExp(`/kubenode-agent-1\\.2\\.3~rc\\.1-1\\.${name}\\.rpm$`));
    expect(
      query(arch, '--queryformat', '%{NAME} %{VERSION} %{ARCH} %{OS} %{BUILDHOST} %{PAYLOADCOMPRESSOR}'),
    ).toBe(`kubenode-agent 1.2.3~rc.1 ${name} linux localhost gzip`);
    expect(rpm('-K', file)).toBe(`${file}: digests OK\n`);
  });

  it('orders a version before its release after the one that precedes it', () => {
    const [before, own, after] = ['1.2.2', '1.2.3~rc.1', '1.2.3'];
    const compare = `%{lua:print(rpm.vercmp('${own}', '${before}'), rpm.vercmp('${own}', '${after}'))}`;
    expect(rpm('--eval', compare).trim()).toBe('1\t-1');
  });

  it('has the same program, unit and config on each architecture, and keeps a config that was changed', () => {
    for (const arch of files.keys()) {
      const lines = query(arch, '-l', '-v').trim().split('\n');
      expect(lines.map((line) => line.replace(/^(\S+) +\d+ (\S+) .* (\/\S+)$/, '$1 $2 $3'))).toEqual(FILES);
      expect(query(arch, '--configfiles')).toBe('/etc/kubenode/agent.env\n');
      expect(query(arch, '--queryformat', '[%{FILENAMES} %{FILEFLAGS:fflags}\n]')).toContain(
        '/etc/kubenode/agent.env cn\n',
      );
    }
  });

  it('requires the libraries of Node.js by names that each distribution has, and nothing of the program', () => {
    const required = query('amd64', '--requires').trim().split('\n');
    expect(
      [...new Set(required)].filter((line) => !line.startsWith('rpmlib(') && !line.startsWith('config(')),
    ).toEqual([
      '/bin/sh',
      'libatomic.so.1()(64bit)',
      'libc.so.6(GLIBC_2.28)(64bit)',
      'libstdc++.so.6()(64bit)',
    ]);
  });

  it('installs the bytes of the program, the unit and the config into an empty root', () => {
    const root = tempFolder('rpm-root');
    // An empty root has no shell for the scripts, and no database of another distribution.
    rpm('--root', root, '--nodeps', '--noscripts', '-i', files.get('amd64') ?? '');
    const read = (path: string): string => readFileSync(join(root, path), 'utf8');
    expect(readFileSync(join(root, 'usr/bin/kubenode-agent')).equals(PROGRAM)).toBe(true);
    expect(read('usr/lib/systemd/system/kubenode-agent.service')).toBe(packageUnit());
    expect(read('etc/kubenode/agent.env')).toBe(CONFIG_TEXT);
    // The root has no passwd in which the owners are looked up.
    expect(rpm('--root', root, '-V', '--nodeps', '--nouser', '--nogroup', 'kubenode-agent')).toBe('');
  });

  // rpm passes the number of versions that are installed after the act.
  it.each([
    ['POSTIN', 1, 'KUBENODE_MACHINE=', ['daemon-reload']],
    ['POSTIN', 2, 'KUBENODE_MACHINE=n1', ['daemon-reload', 'enable', 'try-restart', 'start']],
    ['PREUN', 1, 'KUBENODE_MACHINE=n1', []],
    ['PREUN', 0, 'KUBENODE_MACHINE=n1', ['disable']],
    ['POSTUN', 0, 'KUBENODE_MACHINE=n1', ['daemon-reload']],
  ])(
    'runs of %s, with %d versions and the config %s, what that act needs',
    (name, versions, config, expected) => {
      const folder = tempFolder('rpm-script');
      mkdirSync(join(folder, 'bin'));
      const [log, env] = [join(folder, 'log'), join(folder, 'agent.env')];
      writeFileSync(log, '');
      writeFileSync(env, `${config}\n`);
      writeFileSync(join(folder, 'bin/systemctl'), `#!/bin/sh\necho "$1" >>${log}\n`, { mode: 0o755 });
      const script = query('amd64', '--queryformat', `%{${name}}`)
        .replaceAll('/etc/kubenode/agent.env', env)
        .replaceAll('/run/systemd/system', folder);
      const { status, stderr } = spawnSync('/bin/sh', ['-c', script, 'sh', String(versions)], {
        encoding: 'utf8',
        env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
      });
      expect([status, stderr]).toEqual([0, '']);
      expect(readFileSync(log, 'utf8').trim().split('\n').filter(Boolean)).toEqual(expected);
    },
  );
});

function rpm(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('rpm', args, { encoding: 'utf8' });
  expect(status, `rpm ${args.join(' ')}: ${stderr}`).toBe(0);
  return stdout;
}
