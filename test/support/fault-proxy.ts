/**
 * An HTTPS proxy in front of real API servers that injects network and server faults into the n-th request that matches:
 *
 *     const proxy = await faultProxy(server);                       // of startApiServer(); in beforeAll
 *     proxy.on({ verb: 'list', resource: 'nodes', nth: 2, fault: answer(429, { retryAfterSeconds: 1 }) });
 *     const client = await connect({ kubeconfig: proxy.kubeconfig });
 *     …
 *     expect(writesIn(proxy.log)).toEqual([]);
 *     await proxy.reset();                                          // in afterEach: removes rules, log and held requests
 *     await proxy.close();                                          // in afterAll
 *
 * Must not import vitest: benchmarks use it too. Faults are in fault-proxy/faults.ts and fault-proxy/watch-faults.ts, rules in fault-proxy/rules.ts.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN, type Principal } from '../../src/local/pki/authority.ts';
import { type CertificatePair, createAuthority, issueCertificate } from '../../src/local/pki/certificate.ts';
import { formatKubeconfig } from '../../src/local/pki/kubeconfig.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { type Face, type ListenerParts, type Listening, listen } from './fault-proxy/listener.ts';
import type { Exchange, OpenExchange } from './fault-proxy/log.ts';
import { createFaultRules, type Rule, type RuleHandle } from './fault-proxy/rules.ts';
import { type ApiServerAddress, type Upstream, upstreamTo } from './fault-proxy/upstream.ts';

export interface FaultProxy extends Listener {
  on(rule: Rule): RuleHandle;
  /** Every request since the last reset, in the order of arrival. Entries of open requests are completed while they run. */
  readonly log: readonly Exchange[];
  /** Adds an address, for the same server or another one. */
  listen(options: ListenerOptions): Promise<Listener>;
  /** Exchanges the servers behind two names, for every new request. */
  swap(one: string, other: string, options?: { readonly cutOpen?: boolean }): void;
  /** Removes rules and log entries; held and delayed requests are aborted. */
  reset(): void;
  /** Rejects if a fault could not be injected: such a test proved nothing. */
  close(): Promise<void>;
}

/** An address that represents one cluster. */
export interface Listener {
  readonly name: string;
  readonly url: string;
  readonly caPem: string;
  /** Path of a kubeconfig of the administrator. */
  readonly kubeconfig: string;
  /** Path of a kubeconfig of another user. */
  kubeconfigFor(principal: Principal): string;
  /** UID of the namespace kube-system at this address. */
  uid(): Promise<string>;
}

export interface ListenerOptions {
  readonly name: string;
  readonly server: ApiServerAddress;
  /** A UID of kube-system that replaces the real one, so that one server represents many clusters. */
  readonly ownUid?: boolean;
  /** Every client at this address is this user, whatever its certificate. */
  readonly as?: Principal;
}

const LOOPBACK = ['127.0.0.1', 'localhost'];
const clock = createSystemClock();

export async function faultProxy(server: ApiServerAddress, name = 'default'): Promise<FaultProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'fault-proxy-'));
  const authority = createAuthority('fault proxy CA', clock.now(), 1);
  const subject = { commonName: 'fault proxy' };
  const certificate = issueCertificate(authority, {
    subject,
    usage: 'server',
    names: LOOPBACK,
    now: clock.now(),
    seconds: 86_400,
  });

  const rules = createFaultRules();
  const upstreams = new Map<ApiServerAddress, Upstream>();
  const open = new Map<string, { readonly parts: ListenerParts; readonly listening: Listening }>();
  const problems: unknown[] = [];
  let log: OpenExchange[] = [];
  let ending = new AbortController();
  let kubeconfigs = 0;

  const first = await add({ name, server });
  return {
    ...first,
    on: (rule) => rules.add(rule),
    get log() {
      return log;
    },
    listen: add,
    swap,
    reset,
    close,
  };

  async function add(options: ListenerOptions): Promise<Listener> {
    if (open.has(options.name)) throw new Error(`the fault proxy has a listener ${options.name} already`);
    const parts: ListenerParts = {
      name: options.name,
      certificate,
      face: faceOf(options),
      open: (entry) => {
        const opened = { ...entry, number: log.length + 1 };
        log.push(opened);
        return opened;
      },
      take: (entry) => rules.take(entry, entry.listener),
      problem: (error) => problems.push(error),
      ending: () => ending.signal,
    };
    const listening = await listen(parts);
    open.set(options.name, { parts, listening });
    return describe(options, parts, `https://127.0.0.1:${listening.port}`);
  }

  function faceOf({ server: behind, ownUid = false, as }: ListenerOptions): Face {
    const upstream = upstreams.get(behind) ?? upstreamTo(behind);
    upstreams.set(behind, upstream);
    return { upstream, as, uid: ownUid ? randomUUID() : undefined };
  }

  function describe(options: ListenerOptions, parts: ListenerParts, url: string): Listener {
    const kubeconfigFor = (principal: Principal): string =>
      writeKubeconfig(options.name, url, principal, options.server.certificateFor(principal));
    return {
      name: options.name,
      url,
      caPem: authority.certPem,
      kubeconfig: kubeconfigFor(ADMIN),
      kubeconfigFor,
      uid: async () => parts.face.uid ?? (await parts.face.upstream.uid()),
    };
  }

  function writeKubeconfig(
    cluster: string,
    url: string,
    { user }: Principal,
    client: CertificatePair,
  ): string {
    const path = join(folder, `${(kubeconfigs += 1)}.kubeconfig`);
    const access = { name: cluster, server: url, caPem: authority.certPem, user, client };
    writeFileSync(path, formatKubeconfig([access]), { mode: 0o600 });
    return path;
  }

  function swap(one: string, other: string, { cutOpen = false } = {}): void {
    const [a, b] = [find(one), find(other)];
    [a.parts.face, b.parts.face] = [b.parts.face, a.parts.face];
    if (cutOpen) for (const { listening } of [a, b]) listening.cutAll();
  }

  function find(wanted: string): { readonly parts: ListenerParts; readonly listening: Listening } {
    const found = open.get(wanted);
    if (!found) throw new Error(`no listener ${wanted}; there are ${[...open.keys()].join(', ')}`);
    return found;
  }

  function reset(): void {
    rules.clear();
    ending.abort();
    ending = new AbortController();
    log = [];
  }

  async function close(): Promise<void> {
    reset();
    await Promise.all([...open.values()].map(({ listening }) => listening.close()));
    for (const upstream of upstreams.values()) upstream.close();
    rmSync(folder, { recursive: true, force: true });
    if (problems.length > 0) throw new AggregateError(problems, 'faults that could not be injected');
  }
}
