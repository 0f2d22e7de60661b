/** The certificate in a Secret that several replicas keep, which a store in memory holds as the API server does. */
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openCertificateSource } from '../../../../../../src/controllers/following/clusterapi/extension/certificate/source.ts';
import { KubeError } from '../../../../../../src/kube/client/errors.ts';
import { textAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { memoryLog } from '../../../../../support/memory-log.ts';
import { virtualClock } from '../../../../../support/virtual-clock.ts';

const DAY_MS = 86_400_000;

/** One Secret, with the conflicts of the API server. */
function secretStore() {
  let stored: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'kubenode-update-extension', resourceVersion: '1' },
  };
  const store = {
    writes: 0,
    fail: undefined as KubeError | undefined,
    text: (name: string) => Buffer.from(textAt(stored, 'data', name) ?? '', 'base64').toString('utf8'),
    client: {
      get: async <T>() => {
        await Promise.resolve();
        if (store.fail) throw store.fail;
        return stored as T;
      },
      replace: async <T>(_: unknown, object: KubeObject) => {
        await Promise.resolve();
        const { resourceVersion } = stored.metadata;
        const isOld = object.metadata.resourceVersion !== resourceVersion;
        if (isOld) throw new KubeError('Conflict', 'it changed');
        store.writes += 1;
        stored = {
          ...object,
          metadata: { ...object.metadata, resourceVersion: `${Number(resourceVersion) + 1}` },
        };
        return stored as T;
      },
    },
  };
  return store;
}

function bed() {
  const store = secretStore();
  const clock = virtualClock();
  const log = memoryLog();
  return { store, clock, log, open: () => openCertificateSource({ client: store.client, clock, log }) };
}

describe('the certificate of the update extension', () => {
  it('is made once, also when three replicas start together', async () => {
    const { store, open } = bed();
    const sources = await Promise.all([open(), open(), open()]);
    const served = await Promise.all(sources.map((source) => source.current()));
    expect(store.writes).toBe(1);
    expect(new Set(served.map(({ cert }) => cert))).toEqual(new Set([store.text('tls.crt')]));
    expect(new Set(served.map(({ key }) => key))).toEqual(new Set([store.text('tls.key')]));
  });

  it('stays the same object until its last month, and is renewed once by the same authority', async () => {
    const { store, clock, open } = bed();
    const sources = await Promise.all([open(), open()]);
    const [source] = sources;
    const first = await source.current();
    const authority = store.text('ca.crt');
    clock.jumpWall(59 * DAY_MS);
    expect(await source.current()).toBe(first);
    clock.jumpWall(2 * DAY_MS);
    const [second, other] = await Promise.all(sources.map((each) => each.current()));
    expect(second?.cert).not.toBe(first.cert);
    expect(other?.cert).toBe(second?.cert);
    expect(store.writes).toBe(2);
    expect(store.text('ca.crt')).toBe(authority);
  });

  it('gets a new authority before the old one ends, and both are trusted', async () => {
    const { store, clock, open } = bed();
    const source = await open();
    const earlier = store.text('ca.crt');
    clock.jumpWall(3570 * DAY_MS);
    const { cert = '' } = await source.current();
    const trusted = store.text('ca.crt');
    expect(trusted.endsWith(earlier)).toBe(true);
    const authority = new X509Certificate(trusted.slice(0, -earlier.length));
    const served = new X509Certificate(cert);
    expect(served.verify(authority.publicKey)).toBe(true);
    expect(served.issuer).toBe(authority.subject);
    expect(served.issuer).not.toBe(served.subject);
  });

  it('is served while the Secret cannot be read, and the log has the reason once', async () => {
    const { store, log, open } = bed();
    const source = await open();
    const first = await source.current();
    store.fail = new KubeError('Unreachable', 'no connection');
    expect(await source.current()).toBe(first);
    expect(await source.current()).toBe(first);
    expect(log.lines.filter(({ message }) => message.includes('not renewed'))).toHaveLength(1);
    store.fail = undefined;
    expect(await source.current()).toBe(first);
  });

  it('is required at the start', async () => {
    const { store, open } = bed();
    store.fail = new KubeError('NotFound', 'secrets "kubenode-update-extension" not found');
    await expect(open()).rejects.toThrow('not found');
  });
});
