import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { MANAGER_IMPORT, MANAGER_MACHINE, NAMESPACE } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import {
  makeUserKey,
  type SshServer,
  sshUnavailableReason,
  startSshServer,
  type UserKey,
} from '../../providers/ssh/sshd.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { declareMachine, printed, run, start } from './rollout-fixture.ts';

const unavailable = sshUnavailableReason();
const note = unavailable ? ` (skipped: ${unavailable})` : '';

describe.skipIf(unavailable !== undefined)(`kubenode import --apply${note}`, () => {
  const folder = tempFolder('import-apply');
  const hosts = join(folder, 'hosts.yaml');
  let installed: InstalledServer;
  let client: Client;
  let server: SshServer;
  let key: UserKey;

  beforeAll(async () => {
    installed = await startInstalledServer();
    ({ client } = installed.server);
    key = makeUserKey(folder, 'user');
  });
  afterAll(() => installed?.stop());
  // Another host for each Machine.
  beforeEach(async () => {
    server = await startSshServer(tempFolder('import-host'), { authorized: [key.publicKey] });
  });
  afterEach(() => server.close());

  /** The checks that this machine may fail. */
  const SKIPPED =
    'Cgroup CgroupControllers Systemd Programs KernelModules Swap DiskSpace Inodes ReadOnlyFileSystems MachineId HostName Kubelet Agent Ports Memory Sudo'.split(
      ' ',
    );

  function args(name: string, secret: string, ...more: readonly string[]): readonly string[] {
    writeFileSync(hosts, JSON.stringify({ hosts: [{ ...server.target, name, hostKeys: server.hostKeys }] }));
    return [
      'import',
      '--from',
      hosts,
      '--identity',
      key.file,
      '--secret',
      secret,
      ...SKIPPED.flatMap((check) => ['--skip-check', check]),
      ...more,
    ];
  }

  const read = (name: string): Promise<Machine> => client.get<Machine>(MACHINES, { name });

  it('applies nothing without the Secret, and makes it only when asked, without changing one that exists', async () => {
    const refused = await run(installed, ...args('n1', 'missing', '--apply', '--no-wait'));
    expect([refused.exitCode, refused.stderr]).toEqual([65, expect.stringContaining('add --create-secret')]);
    await expect(read('n1')).rejects.toMatchObject({ code: 'NotFound' });

    const made = await run(installed, ...args('n1', 'made', '--apply', '--create-secret', '--no-wait'));
    expect([made.exitCode, made.stdout]).toEqual([0, expect.stringContaining('Applied')]);
    const secret = await client.get(SECRETS, { name: 'made', namespace: NAMESPACE });
    expect(secret).toMatchObject({
      type: 'kubernetes.io/ssh-auth',
      metadata: { annotations: { 'kubenode.dev/secret-use': 'ssh' } },
      data: { 'ssh-privatekey': readFileSync(key.file).toString('base64') },
    });
    const other = makeUserKey(folder, 'other');
    const again = ['--apply', '--create-secret', '--no-wait', '--identity', other.file];
    writeFileSync(join(server.home, 'authorized_keys'), key.publicKey + other.publicKey);
    const different = await run(installed, ...args('n1', 'made', ...again));
    expect([different.exitCode, different.stderr]).toEqual([
      65,
      expect.stringContaining('it exists with another key, and is not overwritten'),
    ]);
    expect(`${made.stdout}${made.stderr}${different.stderr}`).not.toContain('PRIVATE KEY');
  });

  it('makes the Secret of Machines that are printed for git, and applies none', async () => {
    const { exitCode, stdout } = await run(
      installed,
      ...args('n6', 'for-git', '--create-secret', '-o', 'yaml'),
    );
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('name: for-git')]);
    const secret = await client.get(SECRETS, { name: 'for-git', namespace: NAMESPACE });
    expect(secret).toMatchObject({
      data: { 'ssh-privatekey': readFileSync(key.file).toString('base64') },
    });
    await expect(read('n6')).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('MAC-10 follows the Machines until they are Ready, and may be repeated', async () => {
    const started = start(installed, args('n2', 'followed', '--apply', '--create-secret', '--wait', '10m'));
    await printed(started, 'n2: ');
    const { metadata, spec } = await read('n2');
    expect(metadata.managedFields?.map(({ manager }) => manager)).toContain(MANAGER_IMPORT);
    expect(spec.import).toMatchObject({ hostKeyPolicy: 'Pinned', hostKeys: server.hostKeys });
    await report('n2', 'False', 'Connecting');
    await printed(started, 'n2: Connecting');
    await report('n2', 'True', 'Ready');
    expect(await started.code).toBe(0);
    expect(started.stderr).toContain('1 machine: 1 Ready');

    const again = await run(installed, ...args('n2', 'followed', '--apply', '-o', 'json'));
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ machines: [{ machine: 'n2', state: 'Ready' }] });
    expect((await read('n2')).metadata.generation).toBe(metadata.generation);
  });

  it('MAC-12 makes a Secret whose password of sudo is for the hosts of this import only', async () => {
    const password = join(folder, 'sudo-password');
    writeFileSync(password, 'hunter2\n', { mode: 0o600 });
    const options = ['--apply', '--create-secret', '--no-wait', '--sudo-password-file', password];
    const made = await run(installed, ...args('n5', 'with-sudo', ...options));
    expect([made.exitCode, made.stderr]).toEqual([0, expect.not.stringContaining('hunter2')]);
    const secret = await client.get(SECRETS, { name: 'with-sudo', namespace: NAMESPACE });
    const { address, port } = server.target;
    expect(secret.metadata.annotations).toMatchObject({
      'kubenode.dev/secret-use': `ssh; ${address}:${port}`,
    });
    expect(secret).toMatchObject({ data: { 'sudo-password': Buffer.from('hunter2').toString('base64') } });
  });

  it('leaves a Machine of somebody else as it is, and tells that in its report', async () => {
    await declareMachine(client, 'n3');
    const before = await read('n3');
    const { exitCode, stdout } = await run(installed, ...args('n3', 'other', '--apply', '--create-secret'));
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining('NotApplied')]);
    expect(await read('n3')).toEqual(before);
  });

  it('ends when --wait is over, and tells that the controllers go on', async () => {
    const waiting = await run(installed, ...args('n4', 'late', '--apply', '--create-secret', '--wait', '1s'));
    expect([waiting.exitCode, waiting.stderr]).toEqual([3, expect.stringContaining('The controllers go on')]);
  });

  /** As the machine controller writes it. */
  async function report(name: string, ready: 'True' | 'False', step: string): Promise<void> {
    const { apiVersion, kind, metadata } = await read(name);
    const at = { observedGeneration: metadata.generation ?? 1, lastTransitionTime: '2030-01-01T00:00:00Z' };
    const conditions = [
      { type: 'Ready', status: ready, reason: step, message: step, ...at },
      {
        type: 'Progressing',
        status: ready === 'True' ? 'False' : 'True',
        reason: step,
        message: step,
        ...at,
      },
    ];
    const intent = { apiVersion, kind, metadata: { name }, status: { conditions } };
    const options = { fieldManager: MANAGER_MACHINE, force: true, subresource: 'status' } as const;
    await client.apply(MACHINES, intent, options);
  }
});
