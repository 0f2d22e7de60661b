import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildDebianPackage } from '../../../scripts/agent/deb.ts';
import { tempFolder } from '../../support/temp.ts';

const missing = spawnSync('dpkg-deb', ['--version']).error && 'dpkg-deb is not installed';
if (missing) process.stderr.write(`skipped: ${missing}\n`);

describe.skipIf(missing)(`buildDebianPackage${missing ? ` (${missing})` : ''}`, () => {
  it('packs program, unit and config, and starts nothing without a Machine', async () => {
    const folder = tempFolder('deb');
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n');
    const file = await buildDebianPackage({ program, folder, version: '1.2.3', arch: 'amd64' });
    const output = (...args: string[]): string =>
      spawnSync('dpkg-deb', [...args, file], { encoding: 'utf8' }).stdout;
    expect(output('--field')).toMatch(/^Package: kubenode-agent\nVersion: 1\.2\.3\nArchitecture: amd64\n/);
    // Node.js is linked against them, and a minimal Debian lacks the first.
    expect(output('--field')).toContain('\nDepends: libatomic1, libc6 (>= 2.28), libstdc++6\n');
    const entries = output('--contents')
      .split('\n')
      .filter((line) => line.startsWith('-'));
    expect(entries.map((line) => line.replace(/ +\d+ \S+ \S+ /, ' ')).toSorted()).toEqual([
      '-rw------- root/root ./etc/kubenode/agent.env',
      '-rw-r--r-- root/root ./lib/systemd/system/kubenode-agent.service',
      '-rwxr-xr-x root/root ./usr/bin/kubenode-agent',
    ]);
    const control = join(folder, 'control');
    spawnSync('dpkg-deb', ['--control', file, control]);
    for (const script of ['postinst', 'prerm', 'postrm']) {
      const { status, stderr } = spawnSync('sh', ['-n', join(control, script)], { encoding: 'utf8' });
      expect([script, status, stderr]).toEqual([script, 0, '']);
    }
  });
});
