import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { validate } from '../../../../src/api/validation/validate.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { CHECK_NAMES } from '../../../../src/providers/ssh/preflight/evaluate.ts';
import { formatTarget } from '../../../../src/providers/ssh/target.ts';
import {
  freePort,
  makeUserKey,
  type SshServer,
  sshUnavailableReason,
  startSshServer,
  type UserKey,
} from '../../../providers/ssh/sshd.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const PASSPHRASE = 's3cret-passphrase';
const PASSWORD = 's3cret-of-sudo';
interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const unavailable = sshUnavailableReason();
const note = unavailable ? ` (skipped: ${unavailable})` : '';

describe.skipIf(unavailable !== undefined)(`kubenode import${note}`, () => {
  const cwd = tempFolder('import');
  let key: UserKey;
  let server: SshServer;
  let inBetween: SshServer;
  let host: string;
  beforeAll(async () => {
    key = makeUserKey(cwd, 'key', PASSPHRASE);
    server = await startSshServer(join(cwd, 'server'), {
      keyTypes: ['ed25519', 'ecdsa'],
      authorized: [key.publicKey],
    });
    inBetween = await startSshServer(join(cwd, 'in-between'), { authorized: [key.publicKey] });
    host = formatTarget(server.target);
    writeSecret('passphrase', PASSPHRASE);
    writeSecret('password', PASSWORD);
  });
  afterAll(async () => {
    await server.close();
    await inBetween.close();
  });

  const KEY = ['--identity', 'key', '--passphrase-file', 'passphrase'];
  /** What differs from machine to machine: at most 16 may be skipped, and the others are not about the host. */
  const DIFFERS = [
    'Cgroup',
    'CgroupControllers',
    'Systemd',
    'Programs',
    'KernelModules',
    'Swap',
    'DiskSpace',
    'Inodes',
    'ReadOnlyFileSystems',
    'MachineId',
    'HostName',
    'Kubelet',
    'Agent',
    'Ports',
    'Memory',
    'Sudo',
  ];

  function kubenode(...args: readonly string[]): Promise<Ran> {
    return kubenodeWith({}, ...args);
  }

  async function kubenodeWith(
    env: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ): Promise<Ran> {
    const io = testIo({ cwd, env });
    const code = await runCommandLine(io, ['import', ...args]);
    expect(`${io.stdout}${io.stderr}`).not.toMatch(/s3cret|PRIVATE KEY/);
    return { code, out: io.stdout, err: io.stderr };
  }

  function writeSecret(name: string, text: string): void {
    writeFileSync(join(cwd, name), `${text}\n`, { mode: 0o600 });
  }

  function writeHosts(name: string, hosts: readonly object[]): void {
    writeFileSync(join(cwd, name), JSON.stringify({ hosts }));
  }

  it('MAC-13 reports the keys and every check of a host, and changes nothing', async () => {
    const { code, out } = await kubenode(host, ...KEY, '--dry-run', '-o', 'json');
    const { hosts } = JSON.parse(out) as {
      hosts: readonly { state: string; hostKeys: unknown; checks: { check: string }[] }[];
    };
    expect(hosts).toHaveLength(1);
    expect(hosts[0]?.hostKeys).toEqual(server.hostKeys);
    expect(hosts[0]?.checks.map(({ check }) => check)).toEqual(CHECK_NAMES);
    expect([0, 3]).toContain(code);
    expect(code === 3).toBe(hosts[0]?.state === 'Fail');
  });

  it('prints Machines that are valid, with the keys that the host has shown', async () => {
    writeHosts('hosts.yaml', [{ ...server.target, name: 'n1', zone: 'z1', labels: { pool: 'storage' } }]);
    const skipped = DIFFERS.flatMap((check) => ['--skip-check', check]);
    const args = ['--from', 'hosts.yaml', ...KEY, ...skipped, '--secret', 'rack7'];
    const { code, out, err } = await kubenode(...args, '-o', 'yaml');
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('compare the fingerprints before you commit or apply them') as string,
    });
    const machine = parse(out) as object;
    expect(validate(machine)).toEqual([]);
    expect(machine).toMatchObject({
      metadata: { name: 'n1' },
      spec: {
        zone: 'z1',
        import: { hostKeys: server.hostKeys, credentialsRef: { name: 'rack7' }, skipChecks: DIFFERS },
      },
    });
    const module = await kubenode(...args);
    expect(module.out).toContain(`new Machine(chart, 'n1', {`);
    const list = JSON.parse((await kubenode(...args, '-o', 'json')).out) as { items: unknown };
    expect(list.items).toEqual([machine]);
  });

  it('MAC-11 sends neither a signature nor the password of sudo to a host with another key', async () => {
    writeHosts('pinned.yaml', [{ ...inBetween.target, hostKeys: server.hostKeys, name: 'n1' }]);
    const args = ['--from', 'pinned.yaml', ...KEY, '--sudo-password-file', 'password'];
    const { code, out } = await kubenode(...args, '--dry-run');
    expect(code).toBe(77);
    expect(out).toContain('the host has another key: expected');
    expect(inBetween.authRequests()).toEqual([]);
    const machines = await kubenode(...args);
    expect([machines.code, machines.out]).toEqual([77, '']);
    expect(machines.err).toContain('the host has another key: expected');
  });

  it('MAC-11 gives the password of sudo to no host whose key is not pinned', async () => {
    const { code, err } = await kubenode(host, ...KEY, '--sudo-password-file', 'password');
    expect([code, err]).toEqual([
      65,
      expect.stringContaining('a password is sent only to a host whose key is pinned'),
    ]);
  });

  it('reports the others when one host is down, and exits with 69', async () => {
    const down = `127.0.0.2:${await freePort()}`;
    const { code, out } = await kubenode(host, down, ...KEY, '--dry-run');
    expect(code).toBe(69);
    expect(out).toContain('no SSH connection: the connection was refused');
    expect(out).toContain(server.hostKeys[0]?.fingerprint);
    expect(out).toMatch(/^2 hosts: .*1 could not be checked\n/m);
  });

  it('uses the keys of an agent, and a jump host', async () => {
    const socket = join(cwd, 'agent.socket');
    const plain = makeUserKey(cwd, 'plain');
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    onTestFinished(() => void agent.kill());
    await eventually(async () => (existsSync(socket) ? true : undefined), 'the agent does not listen');
    execFileSync('ssh-add', ['-q', plain.file], {
      env: { ...process.env, SSH_AUTH_SOCK: socket },
      stdio: 'ignore',
    });
    const refused = await kubenodeWith({ SSH_AUTH_SOCK: socket }, host, '--dry-run', '-o', 'json');
    expect([refused.code, refused.out]).toEqual([77, expect.stringContaining('AuthRefused')]);
    appendFileSync(join(server.home, 'authorized_keys'), plain.publicKey);
    const behind = formatTarget({ ...server.target, address: 'localhost' });
    const { out } = await kubenodeWith(
      { SSH_AUTH_SOCK: socket },
      behind,
      '--via',
      host,
      '--dry-run',
      '-o',
      'json',
    );
    const { hosts } = JSON.parse(out) as { hosts: readonly { host: string; hostKeys: unknown }[] };
    expect(hosts).toMatchObject([{ host: behind, hostKeys: server.hostKeys }]);
    expect(server.log()).toContain('direct-tcpip');
  });

  it('names a key that the host does not accept, and exits with 77', async () => {
    makeUserKey(cwd, 'unauthorized');
    const { code, out } = await kubenode(host, '--identity', 'unauthorized', '--dry-run');
    expect([code, out]).toEqual([77, expect.stringContaining('the host refuses every key that was offered')]);
  });

  it('finds one host under two addresses', async () => {
    const other = formatTarget({ ...server.target, address: 'localhost' });
    const { out } = await kubenode(host, other, ...KEY, '--dry-run');
    expect(out).toContain('is the same host');
    expect(out).toContain(`${hostname()}: it is the name of host`);
  });

  it.each<[string, readonly string[], number, string]>([
    [
      'an address that looks like an option',
      ['--', '-oProxyCommand=x'],
      65,
      'expected a host name or an IP address',
    ],
    ['no key', ['n1'], 64, 'no SSH key is given'],
    ['a key with a passphrase', ['n1', '--identity', 'key'], 65, 'the private key has a passphrase'],
    [
      'a passphrase that is wrong',
      ['n1', '--identity', 'key', '--passphrase-file', 'password'],
      65,
      'cannot be read with this passphrase',
    ],
    ['a public key', ['n1', '--identity', 'public'], 65, 'the file is not a private key'],
    ['a file that is missing', ['n1', '--identity', 'missing'], 65, 'the file cannot be read: ENOENT'],
    ['a key that others can read', ['n1', '--identity', 'open'], 65, 'others can read this secret'],
    ['an empty password', ['n1', ...KEY, '--sudo-password-file', 'empty'], 65, 'the file is empty'],
    [
      'a hosts file that is missing',
      ['--from', 'missing.yaml', ...KEY],
      65,
      'the file cannot be read: ENOENT',
    ],
    ['a hosts file that is invalid', ['--from', 'key.pub', ...KEY], 65, 'expected a list "hosts"'],
  ])('refuses %s', async (_, args, expected, message) => {
    writeSecret('open', 's3cret');
    chmodSync(join(cwd, 'open'), 0o644);
    writeSecret('public', key.publicKey);
    writeSecret('empty', '');
    const { code, err } = await kubenode(...args);
    expect([code, err]).toEqual([expected, expect.stringContaining(message)]);
  });
});
