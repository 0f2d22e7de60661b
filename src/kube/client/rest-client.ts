/** The Client over a Transport: raw JSON in, raw JSON out, every answer judged by answers.ts. */

import type { Transport } from '../transport/transport.ts';
import type { CallOptions, Client } from './client.ts';
import { createDiscovery } from './discovery.ts';
import { createReads } from './reads.ts';
import { type ApiCalls, type CallsOptions, createCalls } from './request.ts';
import { parseJson } from './response.ts';
import { createWrites } from './writes.ts';

export function createRestClient(transport: Transport, options: CallsOptions): Client {
  const all: ApiCalls = createCalls(transport, options);
  return {
    server: options.server,
    ...createReads(all),
    ...createWrites(all),
    ...createDiscovery(all),
    raw: (path, given = {}) => raw(all, path, given),
    close: () => transport.close(),
  };
}

/** A path may carry a query of its own. */
function raw(all: ApiCalls, path: string, { signal, timeoutMs }: CallOptions): Promise<unknown> {
  const [plain = path, search = ''] = path.split('?', 2);
  const request = {
    method: 'GET',
    path: plain,
    query: Object.fromEntries(new URLSearchParams(search)),
    accept: 'application/json, */*',
    ...(signal ? { signal } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  } as const;
  return all.send({ verb: 'raw', what: plain }, request, (response) => {
    const json = response.headers['content-type']?.includes('json') || response.status > 299;
    return json ? parseJson(response) : response.body;
  });
}
