/** `kubenode import`, and the session of the controllers, against the sshd and the sudo of a real host with systemd. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostKey } from '../../../src/api/generated/types.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { ImportHost } from '../../../src/providers/ssh/import/contract.ts';
import { openImportHosts } from '../../../src/providers/ssh/import/open.ts';
import { makeStandIn, STAND_IN_VERSION } from '../../providers/ssh/import/stand-in.ts';
import { makeUserKey, type UserKey } from '../../providers/ssh/sshd.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const PASSWORD = 's3cret-of-sudo';
const unavailable = whyNoNodes();
const note = unavailable ? ` (skipped: ${unavailable})` : '';

interface Report {
  readonly state: string;
  readonly name?: string;
  readonly hostKeys: readonly HostKey[];
  readonly checks: readonly { readonly check: string; readonly state: string; readonly found: string }[];
}

describe.skipIf(unavailable !== undefined)(`kubenode import of a real host${note}`, () => {
  const folder = tempFolder('import');
  const written: string[] = [];
  let kit: NodeKit;
  let node: TestNode;
  let key: UserKey;

  beforeAll(async () => {
    key = makeUserKey(folder, 'user');
    kit = await nodeKit();
    node = await kit.boot({ name: 'host-1' });
    await node.run('useradd', '--create-home', '--shell', '/bin/bash', 'admin');
    await node.run('sh', '-c', `echo 'admin:${PASSWORD}' | chpasswd`);
    await node.run('install', '-d', '-m', '0700', '-o', 'admin', '-g', 'admin', '/home/admin/.ssh');
    await node.run(
      'sh',
      '-c',
      'printf %s "$1" > /home/admin/.ssh/authorized_keys; chown admin: /home/admin/.ssh/authorized_keys',
      'sh',
      key.publicKey,
    );
    await node.run('systemctl', 'start', 'ssh.service');
  });
  afterAll(async () => {
    await kit?.close();
  });

  it('MAC-13 reads the facts of the host and leaves every file as it was', async () => {
    await permit('admin ALL=(root) NOPASSWD: /bin/sh');
    await snapshot('before');
    const { code, report } = await check(`admin@${node.address}`);
    expect(await changes()).toBe('');
    expect({ code, state: report.state }).toEqual({
      code: expect.any(Number) as number,
      state: report.state,
    });
    expect(stateOf(report, 'Sudo')).toBe('Pass');
    expect(stateOf(report, 'OperatingSystem')).toBe('Pass');
    expect(stateOf(report, 'Systemd')).toBe('Pass');
    expect(stateOf(report, 'ReadOnlyFileSystems')).toBe('Pass');
    expect(stateOf(report, 'ClockSkew')).toBe('Pass');
    expect(stateOf(report, 'MachineId')).toBe('Pass');
    expect(report.name).toBe('host-1');
  });

  it('MAC-12 gives the password to sudo and to nothing else', async () => {
    await permit('admin ALL=(root) ALL');
    const keys = (await check(`admin@${node.address}`)).report.hostKeys;
    const hosts = join(folder, 'hosts.yaml');
    writeFileSync(
      hosts,
      JSON.stringify({ hosts: [{ address: node.address, user: 'admin', hostKeys: keys.slice(0, 1) }] }),
    );
    const password = join(folder, 'password');
    writeFileSync(password, `${PASSWORD}\n`, { mode: 0o600 });
    const observed = watchCommandLines();
    const { report } = await check('--from', hosts, '--sudo-password-file', password);
    expect(stateOf(report, 'Sudo')).toBe('Pass');
    expect(await observed.stop()).toBe(false);

    writeFileSync(password, `not-${PASSWORD}\n`);
    const wrong = await check('--from', hosts, '--sudo-password-file', password);
    expect({ code: wrong.code, sudo: stateOf(wrong.report, 'Sudo') }).toEqual({ code: 3, sudo: 'Fail' });
    const journal = await node.run('journalctl', '--no-pager', '--output=export');
    expect([...written, journal.stdout].join('\n')).not.toContain(PASSWORD);
  });

  it('reports that sudo asks for a password, or is not installed, and reads the other facts', async () => {
    await permit('admin ALL=(root) ALL');
    const asked = await check(`admin@${node.address}`);
    expect(found(asked.report, 'Sudo')).toBe('sudo asks for a password, or refuses this user');
    expect(stateOf(asked.report, 'Architecture')).toBe('Pass');
    await node.run('mv', '/usr/bin/sudo', '/usr/bin/sudo.away');
    const missing = await check(`admin@${node.address}`);
    await node.run('mv', '/usr/bin/sudo.away', '/usr/bin/sudo');
    expect(found(missing.report, 'Sudo')).toBe('sudo is not installed');
  });

  it('MAC-10 installs the agent by sudo, gets its request, starts it and releases the host again', async () => {
    await permit('admin ALL=(root) ALL');
    const programs = makeStandIn(join(folder, 'programs'), { padding: 1024 * 1024 });
    const { hostKeys } = (await check(`admin@${node.address}`)).report;
    await snapshot('before');
    const observed = watchCommandLines();
    const host = await connect(programs.folder, hostKeys);
    try {
      expect((await host.inspect(undefined)).facts.uid).toBe(0);
      expect(await host.install()).toEqual({ version: STAND_IN_VERSION, sha256: programs.sha256 });
      const program = await node.run('stat', '-c', '%U %a', '/usr/local/lib/kubenode/kubenode-agent');
      expect(program.stdout).toBe('root 755\n');
      expect(await host.request()).toBe(await host.request());
      await host.deliver({ certificatePem: 'pem', server: 'https://k8s.example.com:6443' });
      expect(await host.release('Restore')).toEqual({ left: ['/etc/kept'] });
    } finally {
      host.close();
    }
    expect(await observed.stop()).toBe(false);
    // The stand-in notes its calls beside what it installs.
    await node.run('rm', '-f', '/calls', '/command-lines');
    expect(await changes()).toBe('');
  });

  it('MAC-11 sends no byte of a credential to a man in the middle with another key', async () => {
    const programs = makeStandIn(join(folder, 'unsent')).folder;
    const { hostKeys } = (await check(`admin@${node.address}`)).report;
    await node.run('systemctl', 'stop', 'ssh.service');
    await node.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', '/run/other-key');
    // It accepts the same users as the host, and writes each request to its log.
    const options = '-h /run/other-key -E /run/other-log -o PidFile=/run/other-pid -o LogLevel=DEBUG2';
    await node.run('sh', '-c', `mkdir -p /run/sshd; /usr/sbin/sshd ${options}`);
    try {
      await expect(connect(programs, hostKeys)).rejects.toMatchObject({ code: 'HostKeyMismatch' });
      expect(await logins()).toEqual([]);
      const trusting = (await check(`admin@${node.address}`)).report.hostKeys;
      expect(trusting).not.toEqual(hostKeys);
      const ofHost = await logins();
      (await connect(programs, trusting)).close();
      expect((await logins()).length).toBeGreaterThan(ofHost.length);
    } finally {
      await node.run('sh', '-c', 'kill "$(cat /run/other-pid)"; rm -f /run/other-*');
      await node.run('systemctl', 'start', 'ssh.service');
    }
  });

  /** The requests for authentication that the man in the middle got. It has exchanged keys before, so that it did run. */
  async function logins(): Promise<readonly string[]> {
    const { stdout } = await node.run('cat', '/run/other-log');
    expect(stdout).toContain('SSH2_MSG_KEXINIT received');
    return stdout.split('\n').filter((line) => /userauth-request|userauth_pubkey|publickey for/i.test(line));
  }

  it('names a disk that is full, one that is read-only, and one that starts no program; nothing is left there', async () => {
    await permit('admin ALL=(root) NOPASSWD: /bin/sh');
    const programs = makeStandIn(join(folder, 'large'), { padding: 4 * 1024 * 1024 });
    const { hostKeys } = (await check(`admin@${node.address}`)).report;
    await node.run('mkdir', '-p', '/var/lib/kubenode');
    const tryWith = async (options: string): Promise<unknown> => {
      await node.run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', '/var/lib/kubenode');
      const host = await connect(programs.folder, hostKeys);
      try {
        return await host.install().catch((error: unknown) => error);
      } finally {
        host.close();
        await node.run('umount', '/var/lib/kubenode');
      }
    };
    expect(await tryWith('size=6m')).toMatchObject({ code: 'NoSpace' });
    expect(await tryWith('ro,size=64m')).toMatchObject({ code: 'ReadOnly' });
    expect(await tryWith('noexec,size=64m')).toMatchObject({ code: 'ProgramRefused' });
    const { stdout } = await node.run('find', '/var/lib/kubenode', '/usr/local/lib', '-mindepth', '1');
    expect(stdout).not.toContain('kubenode');
    await node.run('rmdir', '/var/lib/kubenode');
  });

  async function connect(programs: string, hostKeys: readonly HostKey[]): Promise<ImportHost> {
    const spec = {
      address: node.address,
      port: 22,
      user: 'admin',
      hostKeyPolicy: 'Pinned',
      hostKeys,
    } as const;
    const rest = { existingNode: 'Reject', dryRun: false, skipChecks: [] } as const;
    const credentialsRef = { name: 'ssh', key: 'ssh-privatekey' };
    return await openImportHosts({ programs, clock: createSystemClock() }).connect(
      {
        machine: 'host-1',
        machineUid: 'c1a6f0de-4e0b-4a57-9c86-1f5d4c3b2a10',
        spec: { ...spec, ...rest, credentialsRef },
        secret: { privateKey: key.privateKey, sudoPassword: PASSWORD },
      },
      new AbortController().signal,
    );
  }

  async function permit(rule: string): Promise<void> {
    await node.run(
      'sh',
      '-c',
      'printf "%s\\n" "$1" > /etc/sudoers.d/admin; chmod 0440 /etc/sudoers.d/admin',
      'sh',
      rule,
    );
  }

  async function check(...args: readonly string[]): Promise<{ code: number; report: Report }> {
    const io = testIo();
    const code = await runCommandLine(io, [
      'import',
      ...args,
      '--dry-run',
      '--identity',
      key.file,
      '--timeout',
      '2m',
      '-o',
      'json',
    ]);
    written.push(io.stdout, io.stderr);
    if (io.stdout === '') throw new Error(`${code}: ${io.stderr}`);
    const { hosts } = JSON.parse(io.stdout) as { hosts: readonly Report[] };
    const [report] = hosts;
    if (!report) throw new Error(io.stdout);
    return { code, report };
  }

  /**
   * Remembers names, modes and owners, the times of all but directories, and the content where programs write. Left out is what sshd and sudo write themselves.
   */
  async function snapshot(name: 'before' | 'after'): Promise<void> {
    await node.run(
      'sh',
      '-c',
      `find / -xdev \\( -path /var/log -o -path /run -o -name .sudo_as_admin_successful \\) -prune -o -type d -printf '%p %m %u %g\\n' -o -printf '%p %m %u %g %s %T@\\n' | sort > "/run/$1"
       find /etc /home /opt /root /usr/local /var -xdev \\( -path /var/log -o -name .sudo_as_admin_successful \\) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum >> "/run/$1"`,
      'sh',
      name,
    );
  }

  async function changes(): Promise<string> {
    await snapshot('after');
    return (await node.run('sh', '-c', 'diff /run/before /run/after || true')).stdout;
  }
});

function stateOf(report: Report, check: string): string | undefined {
  return report.checks.find((each) => each.check === check)?.state;
}

function found(report: Report, check: string): string | undefined {
  return report.checks.find((each) => each.check === check)?.found;
}

/** Searches the command lines of all processes of this machine, those in the node included, until it is stopped. */
function watchCommandLines(): { stop(): Promise<boolean> } {
  let isFound = false;
  const search = (): void => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      isFound ||= commandLineOf(pid).includes(PASSWORD);
    }
  };
  const timer = setInterval(search, 20);
  return {
    stop: () => {
      clearInterval(timer);
      search();
      return Promise.resolve(isFound);
    },
  };
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // ended meanwhile
  }
}
