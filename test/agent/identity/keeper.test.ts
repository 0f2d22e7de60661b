import { X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { type CertificateKeeper, createCertificateKeeper } from '../../../src/agent/identity/keeper.ts';
import { createIdentityStore, identityFiles } from '../../../src/agent/identity/store.ts';
import { type FakeRequests, fakeRequests } from '../../support/agent/fake-requests.ts';
import { type TestAuthority, testAuthority } from '../../support/authorities.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const NAME = { commonName: 'kubenode:agent:n17', organization: 'kubenode:agents' };
const FILES = identityFiles('/var/lib/kubenode/pki/agent');
const HOUR_MS = 3_600_000;

let clock: VirtualClock;
let host: MemoryHost;
let requests: FakeRequests;
let log: MemoryLog;
/** Counts calls to the disk and the API server, and stops the agent at one of them. */
let calls: number;
let crashAt: number;
let afterIt: boolean;
/** The authority that is to have issued the certificate. */
let issuer: TestAuthority | undefined;
beforeEach(() => {
  issuer = undefined;
  clock = virtualClock();
  host = createMemoryHost({ clock, artifacts: new Map() });
  requests = fakeRequests(clock);
  log = memoryLog();
  calls = 0;
  crashAt = Number.POSITIVE_INFINITY;
  afterIt = false;
});

class Crash extends Error {
  override readonly message = 'the agent ended';
}

/** Stops the agent before or after the call, once. */
function crashing<T extends object>(target: T): T {
  return new Proxy(target, {
    get(object, key) {
      const method: unknown = Reflect.get(object, key);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        calls += 1;
        const mine = calls === crashAt;
        if (mine && !afterIt) throw new Crash();
        const result: unknown = await Reflect.apply(method as (...all: unknown[]) => unknown, object, args);
        if (mine) throw new Crash();
        return result;
      };
    },
  });
}

/** A new process of the agent. */
function start(): CertificateKeeper {
  return createCertificateKeeper({
    requestPrefix: 'kubenode-agent-n17',
    name: NAME,
    signer: 'kubernetes.io/kube-apiserver-client',
    lifetimeSeconds: 3600,
    store: crashing(createIdentityStore(host.files, FILES)),
    requester: async () => ({ client: crashing(requests.client), machineUid: 'uid-17' }),
    clock,
    random: () => 0.5,
    log,
    unauthorizedHint: () => 'Make another token',
    issuer: () => issuer && new X509Certificate(issuer.certPem),
  });
}

/** Steps of the agent until this time has passed. A crash ends the process, and the next one begins. */
async function run(ms: number): Promise<void> {
  let keeper = start();
  for (let passed = 0; passed <= ms; ) {
    const linesBefore = log.lines.length;
    const waitMs = Math.max(20, await keeper.step());
    const crashed = log.lines.slice(linesBefore).some(({ fields }) => fields['error'] instanceof Crash);
    if (crashed) keeper = start();
    await clock.advance(waitMs);
    passed += waitMs;
  }
}

async function file(path: string): Promise<string | undefined> {
  const content = await host.files.read(path);
  return content && new TextDecoder().decode(content);
}

async function certificate(): Promise<X509Certificate> {
  return new X509Certificate((await file(FILES.certificate)) ?? '');
}

describe('the keeper of a certificate', () => {
  it('makes a key on the host that only root reads, and sends no part of it', async () => {
    await run(10_000);
    expect(await host.files.stat(FILES.certificate)).toMatchObject({ mode: '0600', owner: 'root:root' });
    expect(await host.files.stat(FILES.pendingKey)).toBeUndefined();
    const stored = (await file(FILES.certificate)) ?? '';
    const key = /BEGIN PRIVATE KEY-----\n(?<text>[^-]+)/.exec(stored)?.groups?.['text'] ?? '';
    expect(key.length).toBeGreaterThan(100);
    expect(JSON.stringify([requests.created, log.lines])).not.toContain(key.slice(0, 40));
    expect(requests.created).toHaveLength(1);
    expect(requests.created[0]).toMatchObject({
      metadata: { annotations: { 'kubenode.dev/machine-uid': 'uid-17' } },
      spec: { usages: ['client auth', 'digital signature'], expirationSeconds: 3600 },
    });
  });

  it('MAC-14 renews certificates of one hour for a day, each with another key, and never without a valid one', async () => {
    await run(10_000);
    const serials = new Set<string>();
    for (let minutes = 0; minutes < 24 * 60; minutes += 5) {
      await run(5 * 60_000);
      const { validFromDate, validToDate, publicKey } = await certificate();
      const passed = (clock.now().getTime() - validFromDate.getTime()) / HOUR_MS;
      expect(passed).toBeLessThan(0.75);
      expect(validToDate > clock.now()).toBe(true);
      serials.add(publicKey.export({ type: 'spki', format: 'pem' }));
    }
    // A renewal that has just begun.
    while (await host.files.stat(FILES.pendingKey)) await run(10_000);
    serials.add((await certificate()).publicKey.export({ type: 'spki', format: 'pem' }));
    expect(serials.size).toBeGreaterThan(30);
    expect(requests.created).toHaveLength(serials.size);
  });

  it('explains why there is no certificate, until there is one', async () => {
    const keeper = start();
    const steps = async (): Promise<string | undefined> => {
      for (let step = 0; step < 4; step += 1) await clock.advance(Math.max(20, await keeper.step()));
      return keeper.problem();
    };
    requests.refused = true;
    expect(await steps()).toBe('Unauthorized. Make another token');
    requests.refused = false;
    requests.answer = 'Wait';
    expect(await steps()).toBe(
      'the certificate request is not answered yet: kubenode controllers approve it',
    );
    requests.answer = 'Deny';
    expect(await steps()).toContain('WrongUid');
    requests.answer = 'Issue';
    await clock.advance(HOUR_MS);
    await steps();
    expect(await steps()).toBeUndefined();
    expect(await certificate()).toBeDefined();
  });

  it('keeps the certificate in use while the API server is away, and renews when it is back', async () => {
    await run(10_000);
    const before = await file(FILES.certificate);
    requests.answer = 'Wait';
    await run(50 * 60_000);
    expect(await file(FILES.certificate)).toBe(before);
    expect(requests.created).toHaveLength(2);
    requests.answer = 'Issue';
    await run(10_000);
    expect(await file(FILES.certificate)).not.toBe(before);
    expect(requests.created).toHaveLength(2);
  });

  it('asks again with the same key when Kubernetes removed its request', async () => {
    requests.answer = 'Wait';
    await run(10_000);
    requests.removeAll();
    requests.answer = 'Issue';
    await run(10_000);
    expect(requests.created.map(({ metadata }) => metadata.name)).toEqual([
      requests.created[0]?.metadata.name,
      requests.created[0]?.metadata.name,
    ]);
    expect((await certificate()).subject).toContain('kubenode:agent:n17');
  });

  it('gives up a key that is denied, logs the reason, and tries another one five minutes later', async () => {
    requests.answer = 'Deny';
    await run(200_000);
    expect(requests.created).toHaveLength(1);
    expect(log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['because'])).toEqual(
      ['the request was denied: WrongUid: another Machine'],
    );
    requests.answer = 'Issue';
    await run(400_000);
    expect(requests.created).toHaveLength(2);
    expect(new Set(requests.created.map(({ metadata }) => metadata.name)).size).toBe(2);
  });

  it('tries another key at once when the denied request is of an earlier process: it may have another token', async () => {
    requests.answer = 'Wait';
    await run(3000);
    expect(requests.created).toHaveLength(1);
    requests.answer = 'Deny';
    await run(100_000);
    expect(requests.created).toHaveLength(2);
  });

  it('AGT-42 requests few certificates while the clock of the host is days ahead of the server', async () => {
    const server = { ...clock, now: () => new Date(clock.now().getTime() - 5 * 24 * HOUR_MS) };
    requests = fakeRequests(server);
    await run(10_000);
    const valid = await certificate();
    expect(valid.validToDate < clock.now()).toBe(true);
    await run(60 * 60_000);
    // One for each tenth of an hour, the life of these.
    expect(requests.created.length).toBeLessThanOrEqual(12);
    expect(requests.created.length).toBeGreaterThan(5);
  });

  it('HOS-22 asks for another certificate when the authorities are rotated, once, and when they are taken back', async () => {
    const [former, next] = [testAuthority('old'), testAuthority('new')];
    requests.authority = former;
    await run(10_000);
    issuer = former;
    await run(10 * 60_000);
    expect([(await certificate()).issuer, requests.created.length]).toEqual(['CN=old', 1]);
    [requests.authority, issuer] = [next, next];
    await run(2 * 60_000);
    expect([(await certificate()).issuer, requests.created.length]).toEqual(['CN=new', 2]);
    await run(10 * 60_000);
    expect(requests.created).toHaveLength(2);
    [requests.authority, issuer] = [former, former];
    await run(2 * 60_000);
    expect([(await certificate()).issuer, requests.created.length]).toEqual(['CN=old', 3]);
  });

  it('HOS-22 asks about once a minute while the signer still has another authority', async () => {
    const [former, next] = [testAuthority('old'), testAuthority('new')];
    requests.authority = former;
    issuer = next;
    await run(10 * 60_000);
    expect(requests.created.length).toBeGreaterThan(5);
    expect(requests.created.length).toBeLessThanOrEqual(12);
    requests.authority = next;
    await run(2 * 60_000);
    expect((await certificate()).issuer).toBe('CN=new');
  });

  it('HOS-22 keeps the certificate in use while a request for another one is denied', async () => {
    requests.authority = testAuthority('old');
    await run(10_000);
    const before = await file(FILES.certificate);
    requests.answer = 'Deny';
    issuer = testAuthority('new');
    await run(20 * 60_000);
    expect(await file(FILES.certificate)).toBe(before);
    expect(requests.created.length).toBeLessThanOrEqual(8);
  });

  it('stores no certificate of another key', async () => {
    await run(10_000);
    const before = await file(FILES.certificate);
    requests.answer = 'IssueAnother';
    await run(45 * 60_000);
    expect(await file(FILES.certificate)).toBe(before);
  });

  it.each(['', 'text', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    'replaces a damaged file: %j',
    async (text) => {
      for (const path of [FILES.certificate, FILES.pendingKey]) {
        await host.files.makeDirectory('/var/lib/kubenode/pki/agent');
        await host.files.write(path, new TextEncoder().encode(text), { mode: '0600', owner: 'root:root' });
      }
      await run(10_000);
      expect((await certificate()).subject).toContain('kubenode:agent:n17');
    },
  );

  it('AGT-41 survives its end before and after every call, with one request and one certificate', async () => {
    await run(10_000);
    const total = calls;
    expect(total).toBeGreaterThan(10);
    for (const after of [false, true]) {
      for (let at = 1; at <= total; at += 1) {
        host = createMemoryHost({ clock, artifacts: new Map() });
        requests = fakeRequests(clock);
        log = memoryLog();
        [calls, crashAt, afterIt] = [0, at, after];
        await run(60_000);
        const held = await start().held();
        expect([after, at, held !== undefined, requests.created.length]).toEqual([after, at, true, 1]);
        expect(await host.files.stat(FILES.pendingKey)).toBeUndefined();
      }
    }
  });
});
