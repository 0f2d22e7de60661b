import { beforeEach, describe, expect, it } from 'vitest';
import { follow, readFollowed } from '../../../src/agent/authorities/store.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { digestOfCa, knownCluster } from '../../../src/agent/identity/known-cluster.ts';
import {
  isKnownCluster,
  joinCluster,
  rememberCluster,
} from '../../../src/agent/identity/remember-cluster.ts';
import { identityFiles } from '../../../src/agent/identity/store.ts';
import { AGENT_PKI, AUTHORITIES_FILE, CLUSTER_CA_FILE, CLUSTER_FILE } from '../../../src/agent/layout.ts';
import { formatDocument } from '../../../src/api/authorities/document.ts';
import { certificateBy, documentOf, testAuthority } from '../../support/authorities.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const [OLD, NEW, FOREIGN] = [testAuthority('old'), testAuthority('new'), testAuthority('foreign')];
const SERVER = 'https://10.0.0.1:6443';
const BOOTSTRAP = { server: SERVER, ca: OLD.certPem };
const DOCUMENT = documentOf([NEW], { order: 4, phase: 'TrustNew' });
const clock = virtualClock();
let host: MemoryHost;

/** A host that has joined with the former authority, and that follows only the new one. */
beforeEach(async () => {
  host = createMemoryHost({ clock, artifacts: new Map() });
  await rememberCluster(host, BOOTSTRAP);
  const { certPem, keyPem } = certificateBy(NEW);
  await write(identityFiles(AGENT_PKI).certificate, certPem + keyPem);
  const following = { files: host.files, clock, kubelets: async () => [] };
  await follow(following, { document: DOCUMENT, text: formatDocument(DOCUMENT) });
});

async function write(path: string, content: string): Promise<void> {
  await host.files.write(path, new TextEncoder().encode(content), { mode: '0600', owner: 'root:root' });
}

async function text(path: string): Promise<string | undefined> {
  const content = await host.files.read(path);
  return content && new TextDecoder().decode(content);
}

async function state(): Promise<readonly [ca: string | undefined, order: number | undefined]> {
  return [await text(CLUSTER_CA_FILE), (await readFollowed(host.files))?.order];
}

const FOLLOWS = [NEW.certPem, 4] as const;

describe('rememberCluster', () => {
  it('HOS-22 records the CA of the bootstrap file by its digest', async () => {
    const cluster = { server: SERVER, hasCa: true, caSha256: digestOfCa(OLD.certPem) };
    expect(await knownCluster(host.files)).toEqual(cluster);
    expect(await rememberCluster(host, BOOTSTRAP)).toEqual(cluster);
  });

  it.each<[what: string, lose: () => Promise<void>, expected: readonly [string, number | undefined]]>([
    ['nothing', async () => undefined, FOLLOWS],
    ['where its server is', () => host.files.remove(CLUSTER_FILE), FOLLOWS],
    ['where its server is, by damage', () => write(CLUSTER_FILE, '{'), FOLLOWS],
    ['what it follows', () => host.files.remove(AUTHORITIES_FILE), [NEW.certPem, undefined]],
    ['what it follows, by damage', () => write(AUTHORITIES_FILE, '{}'), [NEW.certPem, undefined]],
    ['the CA', () => host.files.remove(CLUSTER_CA_FILE), FOLLOWS],
    [
      'both records',
      async () => {
        await host.files.remove(CLUSTER_FILE);
        await host.files.remove(AUTHORITIES_FILE);
      },
      [NEW.certPem, undefined],
    ],
    [
      'the CA and what it follows, so that only the bootstrap file is left',
      async () => {
        await host.files.remove(CLUSTER_CA_FILE);
        await host.files.remove(AUTHORITIES_FILE);
      },
      [OLD.certPem, undefined],
    ],
  ])('HOS-22 keeps what the host trusts when this is missing: %s', async (_, lose, expected) => {
    await lose();
    await rememberCluster(host, BOOTSTRAP);
    expect(await state()).toEqual(expected);
    await rememberCluster(host, BOOTSTRAP);
    expect(await state()).toEqual(expected);
  });

  it('HOS-22 returns to what it followed after an earlier agent has run', async () => {
    await write(CLUSTER_FILE, JSON.stringify({ server: SERVER, hasCa: true }));
    await write(CLUSTER_CA_FILE, OLD.certPem);
    await rememberCluster(host, BOOTSTRAP);
    expect(await state()).toEqual(FOLLOWS);
    // The kubelets that started with the CA of the earlier agent are listed before it counts as applied.
    expect((await readFollowed(host.files))?.isApplied).toBe(false);
  });

  it.each<[what: string, server: string, ca: string]>([
    ['another CA', SERVER, FOREIGN.certPem],
    ['the CA in use, with a new token', SERVER, NEW.certPem],
    ['another server', 'https://10.0.0.2:6443', OLD.certPem],
  ])('HOS-22 joins again with what a person brings: %s', async (_, server, ca) => {
    await rememberCluster(host, { server, ca });
    expect(await state()).toEqual([ca, undefined]);
    expect(await knownCluster(host.files)).toMatchObject({ server, caSha256: digestOfCa(ca) });
  });

  it('HOS-22 takes the CA of an earlier agent when a person brings another one', async () => {
    await host.files.remove(AUTHORITIES_FILE);
    await write(CLUSTER_FILE, JSON.stringify({ server: SERVER, hasCa: true }));
    await write(CLUSTER_CA_FILE, OLD.certPem);
    await rememberCluster(host, { server: SERVER, ca: FOREIGN.certPem });
    expect(await state()).toEqual([FOREIGN.certPem, undefined]);
  });

  it('HOS-22 joins a host without a certificate as a new one', async () => {
    await host.files.remove(CLUSTER_FILE);
    await host.files.remove(identityFiles(AGENT_PKI).certificate);
    await rememberCluster(host, BOOTSTRAP);
    expect(await state()).toEqual([OLD.certPem, undefined]);
  });

  it('HOS-22 counts no record that a running agent writes again after a person has joined the host', async () => {
    const record = (await text(AUTHORITIES_FILE)) ?? '';
    await joinCluster(host, { server: SERVER, ca: FOREIGN.certPem });
    await write(AUTHORITIES_FILE, record);
    expect(await state()).toEqual([FOREIGN.certPem, undefined]);
    await rememberCluster(host, { server: SERVER, ca: FOREIGN.certPem });
    expect(await state()).toEqual([FOREIGN.certPem, undefined]);
  });

  it('HOS-22 knows its cluster by the CA that a person brought, and not by the one in use', async () => {
    expect(await isKnownCluster(host.files, BOOTSTRAP)).toBe(true);
    expect(await isKnownCluster(host.files, { server: SERVER, ca: NEW.certPem })).toBe(false);
    expect(await isKnownCluster(host.files, { server: SERVER })).toBe(false);
  });
});
