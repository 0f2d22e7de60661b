import { beforeEach, describe, expect, it } from 'vitest';
import {
  type AuthoritiesFollower,
  createAuthoritiesFollower,
} from '../../../src/agent/authorities/follower.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { rememberCluster } from '../../../src/agent/identity/remember-cluster.ts';
import { identityFiles } from '../../../src/agent/identity/store.ts';
import { AGENT_PKI, AUTHORITIES_FILE, CLUSTER_CA_FILE } from '../../../src/agent/layout.ts';
import type { SignedAuthorities } from '../../../src/api/authorities/document.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { certificateBy, documentOf, signedBy, testAuthority } from '../../support/authorities.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const [OLD, NEW, FOREIGN] = [testAuthority('old'), testAuthority('new'), testAuthority('foreign')];
const SERVER = 'https://10.0.0.1:6443';
const BOTH = signedBy([OLD], documentOf([OLD, NEW]));
const ISSUE_NEW = signedBy([OLD], documentOf([NEW, OLD], { order: 2, phase: 'IssueNew' }));
const ONLY_NEW = signedBy([NEW], documentOf([NEW], { order: 3, phase: 'TrustNew' }));

let clock: VirtualClock;
let host: MemoryHost;
let published: SignedAuthorities | 'missing' | 'forbidden' | 'offline';
let changes: number;
let kubelets: readonly string[] | undefined;
let follower: AuthoritiesFollower;
beforeEach(async () => {
  clock = virtualClock();
  host = createMemoryHost({ clock, artifacts: new Map() });
  published = 'missing';
  changes = 0;
  kubelets = [];
  await rememberCluster(host, { server: SERVER, ca: OLD.certPem });
  await writeFile(identityFiles(AGENT_PKI).certificate, certificateBy(OLD).certPem);
  follower = start();
});

const client: Pick<Client, 'get'> = {
  async get<T>() {
    if (published === 'missing') throw new KubeError('NotFound', 'authorities');
    if (published === 'forbidden') throw new KubeError('Forbidden', 'not permitted');
    if (published === 'offline') throw new KubeError('Unreachable', 'no answer');
    return { data: published } as T;
  },
};

function start(): AuthoritiesFollower {
  return createAuthoritiesFollower({
    host,
    client,
    clock,
    kubelets: async () => kubelets,
    random: () => 0.5,
    log: memoryLog(),
    onChange: () => {
      changes += 1;
    },
  });
}

async function writeFile(path: string, text: string): Promise<void> {
  await host.files.write(path, new TextEncoder().encode(text), { mode: '0600', owner: 'root:root' });
}

async function publish(next: typeof published): Promise<void> {
  published = next;
  await follower.step();
}

async function ca(): Promise<string> {
  return new TextDecoder().decode(await host.files.read(CLUSTER_CA_FILE));
}

describe('the follower of published authorities', () => {
  it('HOS-22 reports what it trusts where nothing is published', async () => {
    expect(follower.report()).toBeUndefined();
    await publish('missing');
    expect(follower.report()).toEqual({ managed: true, trusted: [OLD.sha256], issuer: OLD.sha256 });
    expect([follower.followed(), follower.issuer(), changes]).toEqual([undefined, undefined, 1]);
    await publish('missing');
    expect(changes).toBe(1);
  });

  it('HOS-22 writes the file that its client and its kubelet read, and only when the authorities change', async () => {
    await publish(BOTH);
    expect(await ca()).toBe(OLD.certPem + NEW.certPem);
    const before = await host.files.stat(CLUSTER_CA_FILE);
    const { changedAt } = follower.followed() ?? {};
    await clock.advance(60_000);
    await publish(ISSUE_NEW);
    expect(await host.files.stat(CLUSTER_CA_FILE)).toEqual(before);
    expect(follower.followed()).toMatchObject({ order: 2, phase: 'IssueNew', changedAt });
    expect(follower.issuer()?.subject).toBe('CN=new');
    expect(follower.report()).toEqual({
      managed: true,
      rotation: '2030',
      phase: 'IssueNew',
      order: 2,
      trusted: [OLD.sha256, NEW.sha256].toSorted(),
      issuer: OLD.sha256,
    });
    await publish(ONLY_NEW);
    expect(await ca()).toBe(NEW.certPem);
    expect(follower.followed()?.changedAt).toBe(clock.now().toISOString());
  });

  it.each<[what: string, next: () => typeof published, problem: string]>([
    [
      'a document that a foreign one signed',
      () => signedBy([FOREIGN], documentOf([FOREIGN])),
      'keeps no authority',
    ],
    ['a document without a signature', () => signedBy([], documentOf([OLD, FOREIGN])), 'has signed it'],
    ['no right to read it', () => 'forbidden', 'the ConfigMap cannot be read'],
  ])('HOS-22 changes nothing, and reports why: %s', async (_, next, problem) => {
    await publish(next());
    expect(follower.report()?.problem).toContain(problem);
    expect([await ca(), follower.followed()]).toEqual([OLD.certPem, undefined]);
    await publish(BOTH);
    expect(follower.report()?.problem).toBeUndefined();
  });

  it('HOS-22 keeps what it follows while the API server does not answer, and after a restart', async () => {
    await publish(BOTH);
    follower = start();
    await publish('offline');
    expect(follower.report()).toMatchObject({ order: 1, phase: 'TrustBoth' });
    expect(await ca()).toBe(OLD.certPem + NEW.certPem);
  });

  it('HOS-22 refuses an earlier document, also after a restart', async () => {
    await publish(BOTH);
    await publish(ONLY_NEW);
    follower = start();
    await publish(BOTH);
    expect(follower.report()?.problem).toContain('that stays trusted, has signed it');
    published = signedBy([OLD, NEW], documentOf([OLD, NEW]));
    await follower.step();
    expect(follower.report()?.problem).toBe('it is older: its order is 1, and this host follows 3');
    expect(await ca()).toBe(NEW.certPem);
  });

  it('HOS-22 writes the file again when somebody else has changed it', async () => {
    await publish(BOTH);
    await writeFile(CLUSTER_CA_FILE, FOREIGN.certPem);
    await follower.step();
    expect(await ca()).toBe(OLD.certPem + NEW.certPem);
  });

  it('HOS-22 keeps what it follows when the agent starts with the file that it joined with', async () => {
    await publish(BOTH);
    await publish(ONLY_NEW);
    await rememberCluster(host, { server: SERVER, ca: OLD.certPem });
    expect(await ca()).toBe(NEW.certPem);
  });

  it.each<[what: string, server: string, given: string]>([
    ['another CA', SERVER, FOREIGN.certPem],
    ['another server', 'https://10.0.0.2:6443', OLD.certPem],
  ])('HOS-22 forgets what it follows when a person joins the host again: %s', async (_, server, text) => {
    await publish(BOTH);
    await rememberCluster(host, { server, ca: text });
    expect([await ca(), await host.files.read(AUTHORITIES_FILE)]).toEqual([text, undefined]);
  });

  it('HOS-22 finishes what an agent has begun that ended between record and file', async () => {
    await publish(BOTH);
    const record = JSON.parse(new TextDecoder().decode(await host.files.read(AUTHORITIES_FILE))) as object;
    await writeFile(AUTHORITIES_FILE, JSON.stringify({ ...record, isApplied: false }));
    kubelets = ['boot-1 7 100'];
    await writeFile(CLUSTER_CA_FILE, OLD.certPem);
    await clock.advance(5000);
    follower = start();
    await publish('offline');
    expect(await ca()).toBe(OLD.certPem + NEW.certPem);
    const changedAt = clock.now().toISOString();
    expect(follower.followed()).toMatchObject({ isApplied: true, changedAt, outdated: kubelets });
  });

  it('HOS-22 describes the host before it reads anything of the API server', async () => {
    published = 'forbidden';
    await follower.describe();
    expect(follower.report()).toEqual({ managed: true, trusted: [OLD.sha256], issuer: OLD.sha256 });
  });

  it('HOS-22 records the kubelets that ran when the authorities changed', async () => {
    kubelets = ['boot-1 7 100'];
    await publish(BOTH);
    expect(follower.followed()).toMatchObject({ isApplied: true, outdated: ['boot-1 7 100'] });
    kubelets = ['boot-1 8 200'];
    await publish(ISSUE_NEW);
    expect(follower.followed()?.outdated).toEqual(['boot-1 7 100']);
    await publish(ONLY_NEW);
    expect(follower.followed()?.outdated).toEqual(['boot-1 8 200']);
  });

  it('HOS-22 trusts the authorities at once, and lists the kubelets when they are known', async () => {
    kubelets = undefined;
    published = BOTH;
    expect(await follower.step()).toBe(5000);
    expect(await ca()).toBe(OLD.certPem + NEW.certPem);
    expect(follower.followed()?.isApplied).toBe(false);
    kubelets = ['boot-1 7 100'];
    expect(await follower.step()).toBe(60_000);
    expect(follower.followed()).toMatchObject({ isApplied: true, outdated: ['boot-1 7 100'] });
  });

  it('HOS-22 lists no kubelet of a host that joined with the authorities', async () => {
    kubelets = ['boot-1 7 100'];
    await rememberCluster(host, { server: SERVER, ca: OLD.certPem + NEW.certPem });
    await publish(BOTH);
    expect(follower.followed()).toMatchObject({ isApplied: true });
    expect(follower.followed()?.outdated).toBeUndefined();
  });

  it('HOS-22 reports a damaged record, and keeps the CA', async () => {
    await publish(BOTH);
    await writeFile(AUTHORITIES_FILE, '{"format":2}');
    follower = start();
    await publish(ONLY_NEW);
    expect(follower.report()?.problem).toContain('cannot be used: expected format 1');
    expect(await ca()).toBe(OLD.certPem + NEW.certPem);
    await host.files.remove(AUTHORITIES_FILE);
    await publish(ONLY_NEW);
    expect([follower.report()?.problem, await ca()]).toEqual([undefined, NEW.certPem]);
  });

  it('HOS-22 takes no authority where the host trusts those of its system', async () => {
    await host.files.remove(CLUSTER_CA_FILE);
    await publish(BOTH);
    expect(follower.report()?.trusted).toEqual([]);
    expect(follower.report()?.problem).toContain('of its system');
    expect(await host.files.read(CLUSTER_CA_FILE)).toBeUndefined();
  });
});
