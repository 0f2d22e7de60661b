import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TakeoverCommandName } from '../../../../../src/cli/commands/agent/takeover/definitions.ts';
import { runTakeover } from '../../../../../src/cli/commands/agent/takeover/run.ts';
import { issueClientCertificate } from '../../../../../src/local/pki/authority.ts';
import { createAuthority } from '../../../../../src/local/pki/certificate.ts';
import { tempFolder } from '../../../../support/temp.ts';
import { testIo } from '../../../../support/test-io.ts';
import { NOW } from '../../../../support/virtual-clock.ts';

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

const AUTHORITY = createAuthority('test', NOW, 1);

function kubeletFile(user: string): string {
  const file = join(tempFolder('kubelet'), 'kubelet.pem');
  const { certPem, keyPem } = issueClientCertificate(AUTHORITY, { user, groups: ['system:nodes'] }, NOW);
  writeFileSync(file, `${certPem}${keyPem}`);
  return file;
}

function bootstrapWith(pem: string): string {
  return bootstrapFile({ 'client-certificate': pem, 'client-key': pem });
}

function bootstrapFile(user: object): string {
  const file = join(tempFolder('bootstrap'), 'bootstrap.json');
  writeFileSync(
    file,
    JSON.stringify({ clusters: [{ cluster: { server: 'https://h' } }], users: [{ user }] }),
  );
  return file;
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

  it('CAP-19 takes over a host for the Node of its kubelet, where the bootstrap file names its certificate', async () => {
    const directory = tempFolder('host');
    const options = { bootstrap: bootstrapWith(kubeletFile('system:node:ip-10-0-0-1')), directory };
    expect(await run('install', options)).toMatchObject({ code: 0 });
    expect((await run('request', { machine: 'ip-10-0-0-1', directory })).code).toBe(0);
    expect((await run('request', { machine: 'n2', directory })).stderr).toContain(
      'belongs to Machine ip-10-0-0-1',
    );
  });

  it.each<[string, file: () => string, message: RegExp]>([
    ['a token', () => bootstrapFile({ token: 'a.b' }), /it has a token, which is for one Machine/],
    ['no certificate yet', () => bootstrapWith('/none/kubelet.pem'), /the kubelet has no certificate yet/],
    [
      'the certificate of another',
      () => bootstrapWith(kubeletFile('anna')),
      /expected the certificate of a kubelet/,
    ],
    ['a Node with an odd name', () => bootstrapWith(kubeletFile('system:node:..')), /\.\./],
    ['no bootstrap file', () => '/none/bootstrap.json', /it does not exist/],
  ])('names no Machine by %s', async (_, file, message) => {
    await expect(run('install', { bootstrap: file(), directory: tempFolder('host') })).rejects.toThrow(
      message,
    );
  });

  it('CAP-19 has a hint for a host that has not joined yet', async () => {
    const ran = run('install', {
      bootstrap: bootstrapWith('/none/kubelet.pem'),
      directory: tempFolder('host'),
    });
    await expect(ran).rejects.toMatchObject({
      where: '/none/kubelet.pem',
      hint: expect.stringContaining('after the host has joined') as string,
    });
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
