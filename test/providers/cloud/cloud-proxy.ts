/**
 * An HTTP server in front of a cloud, or of what stands in for it. It puts a fault into the next request that matches:
 *
 *     const proxy = await startCloudProxy((request) => forward(request, cloud));
 *     proxy.next((request) => request.body.includes('Action=RunInstances'), { type: 'LoseAnswer' });
 *
 * Must not import vitest: benchmarks use it too.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface CloudRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface CloudAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Cloud = (request: CloudRequest) => Promise<CloudAnswer>;

export type CloudFault =
  /** The cloud acts, and the connection ends before its answer. */
  | { readonly type: 'LoseAnswer' }
  /** The cloud acts, and never answers. */
  | { readonly type: 'NeverAnswer' }
  /** The connection ends in the middle of the answer. */
  | { readonly type: 'CutAnswer' }
  /** The cloud acts, and its answer is another one. */
  | { readonly type: 'ChangeAnswer'; readonly change: (answer: CloudAnswer) => CloudAnswer }
  /** The cloud gets no request. */
  | { readonly type: 'Answer'; readonly answer: CloudAnswer };

export type Matches = (request: CloudRequest) => boolean;

export interface CloudProxy extends AsyncDisposable {
  readonly url: string;
  /** All requests since the last reset. */
  readonly requests: readonly CloudRequest[];
  /** The fault of the next request that matches. */
  next(matches: Matches, fault: CloudFault): void;
  /** The fault of all requests for which it returns one, until the result is called. Those of `next` come first. */
  always(faultOf: (request: CloudRequest) => CloudFault | undefined): () => void;
  /** Faults that were not injected yet. */
  readonly pending: number;
  reset(): void;
}

export async function startCloudProxy(cloud: Cloud): Promise<CloudProxy> {
  let once: { readonly matches: Matches; readonly fault: CloudFault }[] = [];
  let rules: ((request: CloudRequest) => CloudFault | undefined)[] = [];
  let requests: CloudRequest[] = [];

  function takeFault(request: CloudRequest): CloudFault | undefined {
    const found = once.find(({ matches }) => matches(request));
    once = once.filter((each) => each !== found);
    return found?.fault ?? rules.map((faultOf) => faultOf(request)).find((fault) => fault !== undefined);
  }

  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch((error: unknown) => {
      response.writeHead(502, { connection: 'close' }).end(`proxy: ${String(error)}`);
    });
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    requests.push(request);
    const fault = takeFault(request);
    const answer = fault?.type === 'Answer' ? fault.answer : await cloud(request);
    if (fault?.type === 'LoseAnswer') response.destroy();
    else if (fault?.type !== 'NeverAnswer') send(response, answer, fault);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    get pending() {
      return once.length;
    },
    next: (matches, fault) => void once.push({ matches, fault }),
    always(faultOf) {
      rules.push(faultOf);
      return () => {
        rules = rules.filter((each) => each !== faultOf);
      };
    },
    reset() {
      [once, rules, requests] = [[], [], []];
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, answer: CloudAnswer, fault: CloudFault | undefined): void {
  const { status, headers, body } = fault?.type === 'ChangeAnswer' ? fault.change(answer) : answer;
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  if (fault?.type === 'CutAnswer') cut(response, bytes);
  else response.end(bytes);
}

function cut(response: ServerResponse, bytes: Buffer): void {
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}

async function readRequest(incoming: IncomingMessage): Promise<CloudRequest> {
  const { method = 'GET', url: path = '/' } = incoming;
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
  return { method, path, headers: Object.fromEntries(headers), body: await text(incoming) };
}

/** Sends the request to a server, and returns its answer. */
export async function forward(
  { method, path, headers, body }: CloudRequest,
  url: string,
): Promise<CloudAnswer> {
  const { host: _, connection: __, 'content-length': ___, expect: ____, ...kept } = headers;
  const answer = await fetch(`${url}${path}`, { method, headers: kept, ...(body === '' ? {} : { body }) });
  const type = answer.headers.get('content-type') ?? 'text/plain';
  return { status: answer.status, headers: { 'content-type': type }, body: await answer.text() };
}
