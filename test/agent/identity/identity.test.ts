import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { HostFiles } from '../../../src/agent/host/port.ts';
import { type AgentIdentity, createAgentIdentity } from '../../../src/agent/identity/identity.ts';
import { rememberCluster } from '../../../src/agent/identity/remember-cluster.ts';
import { identityFiles } from '../../../src/agent/identity/store.ts';
import { AGENT_PKI, AUTHORITIES_FILE, KUBELET_PKI } from '../../../src/agent/layout.ts';
import type { ObjectClient } from '../../../src/kube/client/rest-client.ts';
import { certificateBy, documentOf, signedBy, testAuthority } from '../../support/authorities.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const [OLD, NEW] = [testAuthority('old'), testAuthority('new')];
const ACCESS = { server: 'https://10.0.0.1:6443', ca: OLD.certPem };

let clock: VirtualClock;
let host: MemoryHost;
let identity: AgentIdentity;
let answer: () => Promise<unknown>;
/** A file whose content is read late. */
let slowFile: (PromiseWithResolvers<void> & { readonly path: string }) | undefined;
beforeEach(async () => {
  clock = virtualClock();
  slowFile = undefined;
  host = createMemoryHost({ clock, artifacts: new Map() });
  const cluster = await rememberCluster(host, ACCESS);
  const { certPem, keyPem } = certificateBy(OLD);
  const content = new TextEncoder().encode(certPem + keyPem);
  await host.files.write(identityFiles(AGENT_PKI).certificate, content, { mode: '0600', owner: 'root:root' });
  identity = createAgentIdentity({
    host: { files: slowly(host.files), directory: '/' },
    machine: 'm-1',
    cluster,
    client: { get: () => answer() } as unknown as ObjectClient,
    own: {},
    machineUid: () => 'uid-1',
    needsKubelet: () => false,
    kubelets: async () => [],
    clock,
    random: () => 0.5,
    log: memoryLog(),
    onChange: () => undefined,
  });
});

function slowly(files: MemoryHost['files']): HostFiles {
  return new Proxy<HostFiles>(files, {
    get(target, key) {
      if (key === 'read') return read;
      const found: unknown = Reflect.get(target, key);
      if (typeof found !== 'function') return found;
      return (...args: unknown[]): unknown =>
        Reflect.apply(found as (...all: unknown[]) => unknown, target, args);
    },
  });

  async function read(path: string): Promise<Uint8Array | undefined> {
    if (path === slowFile?.path) await slowFile.promise;
    return await files.read(path);
  }
}

async function running(check: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const run = identity.run(stop.signal);
  try {
    await check();
  } finally {
    slowFile?.resolve();
    stop.abort();
    await run;
  }
}

describe('the identity of an agent', () => {
  it('HOS-22 is ready when it knows what it trusts, so that its first report is not that of an earlier version', async () => {
    answer = async () => ({ data: signedBy([OLD], documentOf([OLD, NEW])) });
    slowFile = { path: identityFiles(KUBELET_PKI).certificate, ...Promise.withResolvers<void>() };
    await running(async () => {
      const reports: unknown[] = [];
      const ready = identity.ready().then(() => reports.push(identity.authorities()?.report()));
      await clock.advance(30_000);
      expect([reports, identity.notAfter() !== undefined]).toEqual([[], true]);
      slowFile?.resolve();
      await ready;
      expect(reports).toMatchObject([{ managed: true, trusted: [OLD.sha256] }]);
    });
  });

  it('HOS-22 writes the record of what it follows again when somebody removes it', async () => {
    answer = async () => ({ data: signedBy([OLD], documentOf([OLD, NEW])) });
    await running(async () => {
      await identity.ready();
      await clock.advance(60_000);
      const record = await host.files.read(AUTHORITIES_FILE);
      expect(record).toBeDefined();
      await host.files.remove(AUTHORITIES_FILE);
      await clock.advance(30_000);
      expect(await host.files.read(AUTHORITIES_FILE)).toEqual(record);
    });
  });
});
