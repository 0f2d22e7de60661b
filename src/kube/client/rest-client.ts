/** The Client over a Transport: raw JSON in, raw JSON out, every answer judged by answers.ts. */

import type { Transport } from '../transport/transport.ts';
import type { CallOptions, Client } from './client.ts';
import { discovery } from './discovery.ts';
import { reads } from './reads.ts';
import { type Calls, type CallsOptions, calls } from './request.ts';
import { jsonOf } from './response.ts';
import { writes } from './writes.ts';

export function restClient(transport: Transport, options: CallsOptions): Client {
  const all: Calls = calls(transport, options);
  return {
    server: options.server,
    ...reads(all),
    ...writes(all),
    ...discovery(all),
    raw: (path, given = {}) => raw(all, path, given),
    close: () => transport.close(),
  };
}

/** A path may carry a query of its own. */
function raw(all: Calls, path: string, { signal, timeoutMs }: CallOptions): Promise<unknown> {
  const [plain = path, search = ''] = path.split('?', 2);
  const request = {
    method: 'GET',
    path: plain,
    query: Object.fromEntries(new URLSearchParams(search)),
    accept: 'application/json, */*',
    ...(signal ? { signal } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  } as const;
  return all.ask({ verb: 'raw', what: plain }, request, (response) => {
    const json = response.headers['content-type']?.includes('json') || response.status > 299;
    return json ? jsonOf(response) : response.body;
  });
}
