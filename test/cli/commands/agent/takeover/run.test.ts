import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TakeoverCommandName } from '../../../../../src/cli/commands/agent/takeover/definitions.ts';
import { runTakeover } from '../../../../../src/cli/commands/agent/takeover/run.ts';
import { tempFolder } from '../../../../support/temp.ts';
import { testIo } from '../../../../support/test-io.ts';

const FILE = join(tempFolder('program'), 'kubenode-agent');
writeFileSync(FILE, 'the program');
const SHA256 = '50fda23bf0a5115d4f893dc10d122c10a4705f47688f5620e80611c092d4053e';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  name: TakeoverCommandName,
  options: Readonly<Record<string, string>>,
  input = '',
): Promise<Ran> {
  const io = testIo();
  const code = await runTakeover(io, name, {
    find: (option) => ({ host: 'sandbox', ...options })[option],
    program: { version: '1.0', file: FILE },
    readInput: async () => input,
  });
  return { code, stdout: io.stdout, stderr: io.stderr };
}

describe('runTakeover', () => {
  it('takes over a host, repeats that, and releases it', async () => {
    const directory = tempFolder('host');
    const options = { machine: 'n1', directory, output: 'json' };
    const installed = await run('install', options, '{"machineUid":"u1"}');
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(installed.stdout)).toEqual({ version: '1.0', sha256: SHA256 });
    const { stdout } = await run('request', { machine: 'n1', directory });
    expect(stdout).toMatch(/^-----BEGIN CERTIFICATE REQUEST-----\n[^-]+-----END CERTIFICATE REQUEST-----\n$/);
    expect(await run('install', options)).toEqual(installed);
    const released = await run('release', { directory, output: 'json', 'machine-uid': 'u1' });
    expect({ ...released, stdout: JSON.parse(released.stdout) as unknown }).toEqual({
      code: 0,
      stderr: '',
      stdout: { left: [] },
    });
    expect((await run('install', { ...options, machine: 'n2' })).code).toBe(0);
  });

  it('MAC-21 names the owner of a host in use, with the code as the first word', async () => {
    const directory = tempFolder('host');
    await run('install', { machine: 'n1', directory, 'machine-uid': 'u1' });
    for (const [name, options] of [
      ['install', { machine: 'n2', 'machine-uid': 'u2' }],
      ['request', { machine: 'n2' }],
      ['release', { 'machine-uid': 'u2' }],
    ] as const) {
      const { code, stderr } = await run(name, { directory, ...options });
      expect(code).toBe(65);
      expect(stderr).toMatch(/^HostInUse this host belongs to Machine n1 \(UID u1\), not to .+\n {2}hint: /);
    }
  });

  it.each<[name: TakeoverCommandName, option: string, uid: string]>([
    ['install', 'machine-uid', ''],
    ['install', 'machine-uid', 'u1 u2'],
    ['install', 'cluster-uid', '../u1'],
    ['install', 'machine-uid', 'u'.repeat(129)],
    ['release', 'machine-uid', ''],
    ['uninstall', 'machine-uid', 'u1\n'],
  ])('MAC-21 %s refuses a --%s that cannot be a UID: %j', async (name, option, uid) => {
    const directory = tempFolder('host');
    await run('install', { machine: 'n1', directory, 'machine-uid': 'u1' });
    const before = readFileSync(join(directory, 'var/lib/kubenode/import.json'), 'utf8');
    await expect(run(name, { machine: 'n1', directory, [option]: uid })).rejects.toMatchObject({
      message: `--${option}: expected a UID, such as 0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11, got ${JSON.stringify(uid)}`,
      exitCode: 64,
    });
    expect(readFileSync(join(directory, 'var/lib/kubenode/import.json'), 'utf8')).toBe(before);
  });

  it('MAC-12 prints nothing of what was sent when that cannot be read', async () => {
    const directory = tempFolder('host');
    const { code, stdout, stderr } = await run('accept', { machine: 'n1', directory }, '{"s3cret');
    expect({ code, stdout, stderr }).toEqual({
      code: 65,
      stdout: '',
      stderr: 'BadInput stdin: expected a JSON object\n',
    });
  });

  it.skipIf(process.getuid?.() === 0)('needs root on a real host', async () => {
    await expect(run('install', { machine: 'n1', host: 'systemd' })).rejects.toThrow('needs root');
  });

  it('does not install a program that is more than the agent', async () => {
    const options = { find: (option: string) => ({ machine: 'n1', ...PLACE })[option] };
    const installing = runTakeover(testIo(), 'install', { ...options, readInput: async () => '' });
    await expect(installing).rejects.toThrow('this program is more than the agent');
  });
});

const PLACE: Readonly<Record<string, string>> = { host: 'sandbox', directory: tempFolder('host') };
