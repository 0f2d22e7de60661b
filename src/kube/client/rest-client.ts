/** The Client over a Transport: raw JSON in and out, every answer checked by response.ts. */
import type { Transport } from '../transport/transport.ts';
import type { CallOptions, Client } from './client.ts';
import { createDiscovery, type Discovery } from './discovery.ts';
import { createReads } from './reads.ts';
import { type ApiCalls, type CallsOptions, createCalls } from './request.ts';
import { parseJson } from './response.ts';
import { createWrites } from './writes.ts';

/** For programs that know each kind which they use: an agent is small. */
export type ObjectClient = Omit<Client, keyof Discovery>;

export function createRestClient(transport: Transport, options: CallsOptions): Client {
  const calls = createCalls(transport, options);
  return { ...objectClient(transport, calls, options), ...createDiscovery(calls) };
}

export function createObjectClient(transport: Transport, options: CallsOptions): ObjectClient {
  return objectClient(transport, createCalls(transport, options), options);
}

function objectClient(transport: Transport, calls: ApiCalls, { server }: CallsOptions): ObjectClient {
  return {
    server,
    ...createReads(calls),
    ...createWrites(calls),
    raw: (path, callOptions = {}) => raw(calls, path, callOptions),
    close: () => transport.close(),
  };
}

/** The path may contain a query. */
function raw(calls: ApiCalls, path: string, { signal, timeoutMs }: CallOptions): Promise<unknown> {
  const [plain = path, search = ''] = path.split('?', 2);
  const request = {
    method: 'GET',
    path: plain,
    query: Object.fromEntries(new URLSearchParams(search)),
    accept: 'application/json, */*',
    ...(signal ? { signal } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  } as const;
  return calls.send({ verb: 'raw', what: plain }, request, (response) => {
    const json = response.headers['content-type']?.includes('json') || response.status > 299;
    return json ? parseJson(response) : response.body;
  });
}
