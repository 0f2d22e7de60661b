/** A stand-in for the HTTP API of Prometheus: it answers instant queries as a test wants, also wrongly or not at all. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSystemClock } from '../../src/os/system-clock.ts';

export type PrometheusAnswer =
  /** The values of the series that match; the time of each is now. */
  | {
      readonly values: readonly string[];
      readonly warnings?: readonly string[];
      readonly ageSeconds?: number;
    }
  /** The values by the label `node`. */
  | { readonly nodes: Readonly<Record<string, string>> }
  | { readonly status: number; readonly body?: string; readonly location?: string }
  | 'Hangs'
  | 'EndsEarly';

export interface PrometheusApi {
  readonly url: string;
  /** The queries that arrived, in order. */
  readonly queries: string[];
  /** Methods and paths that arrived, without repeats. */
  readonly requests: Set<string>;
  answer: (query: string) => PrometheusAnswer;
  close(): Promise<void>;
}

const clock = createSystemClock();
/** As that of a real server: a query with many names is a long header. */
const MAX_HEADER_BYTES = 1024 ** 2;

export async function startPrometheusApi(): Promise<PrometheusApi> {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    const url = new URL(request.url ?? '', 'http://prometheus');
    api.requests.add(`${request.method} ${url.pathname}`);
    const query = url.searchParams.get('query') ?? '';
    api.queries.push(query);
    send(response, api.answer(query));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const api: PrometheusApi = {
    url: `http://127.0.0.1:${port}`,
    queries: [],
    requests: new Set(),
    answer: () => ({ values: ['0'] }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return api;
}

function send(response: ServerResponse, answer: PrometheusAnswer): void {
  if (answer === 'Hangs') return;
  if (answer === 'EndsEarly') {
    response.writeHead(200, { 'content-length': '1000' }).write('{"status":"success"');
    setImmediate(() => response.destroy());
    return;
  }
  if ('status' in answer) {
    const { status, body = '', location } = answer;
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
    return;
  }
  if ('nodes' in answer) {
    const labeled = Object.entries(answer.nodes).map(([node, value]) => ({
      metric: { node },
      value: [+clock.now() / 1000, value],
    }));
    sendVector(response, labeled);
    return;
  }
  const { values, warnings, ageSeconds = 0 } = answer;
  const time = +clock.now() / 1000 - ageSeconds;
  const result = values.map((value, index) => ({ metric: { series: `${index}` }, value: [time, value] }));
  sendVector(response, result, warnings);
}

function sendVector(response: ServerResponse, result: readonly object[], warnings?: readonly string[]): void {
  const body = JSON.stringify({ status: 'success', data: { resultType: 'vector', result }, warnings });
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}
