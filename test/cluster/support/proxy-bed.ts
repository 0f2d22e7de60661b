/** Shared by the tests of the fault proxy: a real API server, the proxy in front of it, a client through the proxy and a direct one. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { ADMIN } from '../../../src/local/pki/authority.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { httpsClient, type PlainClient, type WatchLine } from '../../support/https-client.ts';

export const MAPS = '/api/v1/namespaces/default/configmaps';

/** Call it once, at the top of a test file. */
export function proxyBed(): ProxyBed {
  const bed = new ProxyBed();
  beforeAll(() => bed.start());
  beforeEach(() => bed.server.wipe());
  afterEach(() => bed.proxy.reset());
  afterAll(() => bed.stop());
  return bed;
}

type Started = Pick<ProxyBed, 'server' | 'proxy' | 'client' | 'direct'>;

export class ProxyBed {
  #started: Started | undefined;

  get server(): ApiServer {
    return this.#parts().server;
  }
  get proxy(): FaultProxy {
    return this.#parts().proxy;
  }
  get client(): PlainClient {
    return this.#parts().client;
  }
  /** Direct: the real state of the server. */
  get direct(): PlainClient {
    return this.#parts().direct;
  }

  async start(): Promise<void> {
    const server = await startApiServer();
    const proxy = await faultProxy(server);
    const pair = server.certificateFor(ADMIN);
    this.#started = { server, proxy, client: httpsClient(proxy, pair), direct: httpsClient(server, pair) };
  }

  async stop(): Promise<void> {
    const { server, proxy, client, direct } = this.#parts();
    client.close();
    direct.close();
    await proxy.close();
    await server.stop();
  }

  create(
    name: string,
    fields: object = {},
    through: PlainClient = this.client,
    signal?: AbortSignal,
  ): ReturnType<PlainClient['ask']> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...fields };
    return through.ask(MAPS, { method: 'POST', body, ...(signal && { signal }) });
  }

  async remove(name: string): Promise<void> {
    await this.direct.ask(`${MAPS}/${name}`, { method: 'DELETE' });
  }

  async statuses(count: number, path: string): Promise<number[]> {
    const heard: number[] = [];
    while (heard.length < count) heard.push((await this.client.ask(path)).status);
    return heard;
  }

  /** Names of the ConfigMaps, except the one that the server creates in every namespace. */
  async namesIn(through: PlainClient): Promise<string[]> {
    const { items } = listOf((await through.ask(MAPS)).body);
    return items
      .flatMap(({ metadata }) => metadata?.name ?? [])
      .filter((name) => name !== 'kube-root-ca.crt');
  }

  names(): Promise<string[]> {
    return this.namesIn(this.direct);
  }

  watchMaps(): AsyncGenerator<WatchLine, undefined> {
    return this.client.watch(`${MAPS}?watch=1&fieldSelector=metadata.name%21%3Dkube-root-ca.crt`);
  }

  async whoAmI(through: PlainClient, headers: Record<string, string> = {}): Promise<unknown> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const answered = await through.ask(path, { method: 'POST', body, headers });
    return (JSON.parse(answered.body) as { status?: { userInfo?: unknown } }).status?.userInfo;
  }

  async tokenOf(account: string): Promise<string> {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await this.direct.ask(accounts, { method: 'POST', body: { metadata: { name: account } } });
    const answered = await this.direct.ask(`${accounts}/${account}/token`, {
      method: 'POST',
      body: { spec: {} },
    });
    return (JSON.parse(answered.body) as { status: { token: string } }).status.token;
  }

  async waitForLog(verb: string): Promise<void> {
    const poll = (): Promise<true | undefined> =>
      Promise.resolve(this.proxy.log.some((entry) => entry.verb === verb) || undefined);
    await eventually(poll, `no ${verb} came`);
  }

  #parts(): Started {
    if (!this.#started) throw new Error('the test bed is ready inside a test, not before');
    return this.#started;
  }
}

interface List {
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly WatchLine['object'][];
}

export function listOf(body: string): List {
  return JSON.parse(body) as List;
}

export function describeEvent(event: WatchLine | undefined): string {
  return `${event?.type} ${event?.object.metadata?.name ?? event?.object.code}`;
}
