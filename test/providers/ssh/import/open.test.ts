import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { MachineImport } from '../../../../src/api/generated/types.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { ImportHost, ImportTarget } from '../../../../src/providers/ssh/import/contract.ts';
import { type OpenImportOptions, openImportHosts } from '../../../../src/providers/ssh/import/open.ts';
import { tempFolder } from '../../../support/temp.ts';
import { makeUserKey, type SshServer, sshUnavailableReason, startSshServer, type UserKey } from '../sshd.ts';
import { startSlowProxy } from './slow-proxy.ts';
import { makeStandIn, STAND_IN_VERSION, type StandIn } from './stand-in.ts';

const unavailable = sshUnavailableReason();
const note = unavailable ? ` (skipped: ${unavailable})` : '';
const UID = 'c1a6f0de-4e0b-4a57-9c86-1f5d4c3b2a10';
const PASSWORD = 's3cret-of-sudo';
const MIB = 1024 * 1024;

describe.skipIf(unavailable !== undefined)(`the host of an import${note}`, () => {
  const folder = tempFolder('import-host');
  const root = join(folder, 'root $(touch x) "\'');
  const state = join(root, 'var/lib/kubenode');
  let key: UserKey;
  let server: SshServer;
  let program: StandIn;
  let large: StandIn;

  beforeAll(async () => {
    key = makeUserKey(folder, 'user');
    server = await startSshServer(join(folder, 'server'), { authorized: [key.publicKey] });
    program = makeStandIn(join(folder, 'programs'));
    large = makeStandIn(join(folder, 'large'), { padding: 4 * MIB });
  });
  afterAll(async () => {
    await server.close();
  });
  beforeEach(() => {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    mkdirSync(root, { recursive: true });
  });

  async function open(
    { target = {}, spec = {}, ...options }: OpenOptions = {},
    signal = new AbortController().signal,
  ): Promise<ImportHost> {
    const hosts = openImportHosts({ programs: program.folder, clock: createSystemClock(), root, ...options });
    const host = await hosts.connect(targetOf(target, spec), signal);
    onTestFinished(() => host.close());
    return host;
  }

  function targetOf(target: Partial<ImportTarget>, spec: Partial<MachineImport>): ImportTarget {
    return {
      machine: 'n1',
      machineUid: UID,
      secret: { privateKey: key.privateKey },
      spec: {
        ...server.target,
        credentialsRef: { name: 'ssh', key: 'ssh-privatekey' },
        hostKeyPolicy: 'Pinned',
        hostKeys: server.hostKeys,
        existingNode: 'Reject',
        dryRun: false,
        skipChecks: [],
        ...spec,
      },
      ...target,
    };
  }

  const calls = (): readonly string[] => readFileSync(join(root, 'calls'), 'utf8').trim().split('\n');
  const copies = (): readonly string[] =>
    existsSync(join(state, 'incoming')) ? readdirSync(join(state, 'incoming')) : [];

  it('MAC-10 installs, requests, delivers and releases, and each may be repeated', async () => {
    const host = await open();
    const installed = { version: STAND_IN_VERSION, sha256: program.sha256 };
    expect(await host.install()).toEqual(installed);
    const request = await host.request();
    expect(request).toMatch(/^-----BEGIN CERTIFICATE REQUEST-----\n[0-9a-f]{24}\n-----END/);
    const access = { certificatePem: 'a\nb\n', server: 'https://k8s.example.com:6443', ca: 'c\n' };
    await host.deliver(access);
    host.close();

    const again = await open();
    expect(await again.install()).toEqual(installed);
    expect(await again.request()).toBe(request);
    expect(await again.request({ renew: true })).not.toBe(request);
    await again.deliver(access);
    expect(JSON.parse(readFileSync(join(state, 'accepted'), 'utf8'))).toEqual(access);
    expect(copies()).toEqual([]);

    expect(await again.release('Restore')).toEqual({ left: ['/etc/kept'] });
    expect(existsSync(state)).toBe(false);
    expect(await again.release('Restore')).toEqual({ left: [] });
    // An installation that was killed after its record.
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, 'import.json'), JSON.stringify({ machineUid: UID }));
    expect(await again.release('Restore')).toEqual({ left: ['/etc/kept'] });
    expect(existsSync(state)).toBe(false);
    expect(calls().at(-1)).toBe(`release --cleanup Restore --machine-uid ${UID} -o json`);
  });

  it('reads the facts of a host over the same connection', async () => {
    const host = await open();
    expect(host.hostKey).toEqual(server.hostKeys[0]);
    const { facts, hostKeys } = await host.inspect({ host: '127.0.0.1', port: server.target.port });
    expect(facts).toMatchObject({ os: 'Linux', apiPort: 'open' });
    expect(hostKeys).toEqual([host.hostKey]);
  });

  it('copies the program once, to a folder of its user only, and again when it is damaged', async () => {
    const host = await open({ programs: large.folder });
    await host.install();
    const placed = join(root, 'usr/local/lib/kubenode/kubenode-agent');
    const { ino } = statSync(placed);
    rmSync(large.compressedFile);
    await host.install();
    expect(statSync(placed).ino).toBe(ino);
    large = makeStandIn(large.folder, { padding: 4 * MIB });
    writeFileSync(placed, '#!/bin/sh\necho damaged\n');
    expect(await host.install()).toMatchObject({ sha256: large.sha256 });
  });

  it('MAC-21 leaves a host of another Machine as it is, and names that', async () => {
    const other = { machine: 'n0', machineUid: '00000000-0000-4000-8000-000000000000' };
    await (await open({ target: other })).install();
    const record = join(state, 'import.json');
    const before = readFileSync(record, 'utf8');
    const host = await open();
    await expect(host.install()).rejects.toMatchObject({
      code: 'HostInUse',
      message: 'the host belongs to another Machine',
      hint: expect.stringContaining('delete the other Machine') as string,
    });
    expect(await host.release('Wipe')).toEqual({ left: [] });
    // Made from an image: only the program knows.
    writeFileSync(record, '{"machine":"n0"}\n');
    await expect(host.install()).rejects.toMatchObject({
      code: 'HostInUse',
      message: 'this host belongs to another Machine',
    });
    writeFileSync(record, before);
    expect(copies()).toEqual([]);
    expect(calls().filter((call) => call.startsWith('release'))).toEqual([]);
  });

  it('MAC-12 shows no secret and no value of a Machine that a shell would take for its own', async () => {
    const host = await open({
      target: {
        machine: '$(touch x);-n',
        secret: { privateKey: key.privateKey, sudoPassword: PASSWORD, registries: 'of-registries' },
      },
    });
    await host.install();
    await host.deliver({ certificatePem: 'pem-of-agent', server: 'https://$(reboot)' });
    const observed = readFileSync(join(root, 'command-lines'), 'utf8');
    expect(observed).toContain('install --machine $(touch x);-n');
    expect(observed).not.toMatch(/s3cret|PRIVATE KEY|pem-of-agent|of-registries|reboot/);
    const accepted = JSON.parse(readFileSync(join(state, 'accepted'), 'utf8')) as object;
    expect(accepted).toMatchObject({ registries: 'of-registries' });
    expect(existsSync(join(server.home, 'x'))).toBe(false);
  });

  it('MAC-11 sends no byte of a credential to a server with another key, and trusts a first key once', async () => {
    const inBetween = await startSshServer(join(folder, 'in-between'), { authorized: [key.publicKey] });
    onTestFinished(() => inBetween.close());
    await expect(open({ spec: inBetween.target })).rejects.toMatchObject({ code: 'HostKeyMismatch' });
    const first = { hostKeyPolicy: 'TrustOnFirstUse', hostKeys: [] } as const;
    const { hostKey: knownHostKey } = await open({ spec: first });
    const later = open({ spec: { ...first, ...inBetween.target }, target: { knownHostKey } });
    await expect(later).rejects.toMatchObject({ code: 'HostKeyMismatch' });
    expect(inBetween.authRequests()).toEqual([]);
  });

  it('names a program that is missing, damaged, or for another architecture', async () => {
    await expect((await open({ programs: join(folder, 'none') })).install()).rejects.toMatchObject({
      code: 'ProgramMissing',
      where: join(folder, 'none', 'programs.json'),
    });
    const foreign = makeStandIn(join(folder, 'foreign'), {
      arch: process.arch === 'x64' ? 'arm64' : 'amd64',
    });
    await expect((await open({ programs: foreign.folder })).install()).rejects.toMatchObject({
      code: 'ProgramMissing',
    });
    const damaged = makeStandIn(join(folder, 'damaged'), { padding: MIB });
    const bytes = readFileSync(damaged.compressedFile);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(damaged.compressedFile, bytes);
    await expect((await open({ programs: damaged.folder })).install()).rejects.toMatchObject({
      code: 'VerifyFailed',
    });
    writeFileSync(damaged.compressedFile, readFileSync(program.compressedFile));
    await expect((await open({ programs: damaged.folder })).install()).rejects.toMatchObject({
      code: 'VerifyFailed',
      message: 'the program that arrived is not the expected one',
    });
    expect(copies()).toEqual([]);
  });

  it('gives up a host that stops to read, and one whose connection breaks; the next copy removes what they left', async () => {
    const proxy = await startSlowProxy(server.target.port);
    onTestFinished(() => proxy.close());
    const through = {
      programs: large.folder,
      spec: { port: proxy.port },
      limits: { stallMs: 1000 },
    } as const;
    const slow = await open(through);
    proxy.after(2 * MIB, 'Pause');
    await expect(slow.install()).rejects.toMatchObject({
      code: 'Timeout',
      message: 'the copy of the program of the agent made no progress for 1 s',
    });
    proxy.after(2 * MIB, 'Break');
    const broken = await open({ ...through, limits: {} });
    await expect(broken.install()).rejects.toMatchObject({ code: 'Unreachable' });
    mkdirSync(join(state, 'incoming/.part.1'), { recursive: true });
    await (await open({ programs: large.folder })).install();
    expect(copies()).toEqual([]);
  });

  it('ends when the caller stops it', async () => {
    const proxy = await startSlowProxy(server.target.port);
    onTestFinished(() => proxy.close());
    const stop = new AbortController();
    const host = await open({ programs: large.folder, spec: { port: proxy.port } }, stop.signal);
    proxy.after(MIB, 'Pause');
    const installing = host.install();
    await proxy.reached();
    stop.abort(new Error('stopped'));
    await expect(installing).rejects.toThrow('stopped');
  });
});

interface OpenOptions extends Partial<OpenImportOptions> {
  readonly target?: Partial<ImportTarget>;
  readonly spec?: Partial<MachineImport>;
}
