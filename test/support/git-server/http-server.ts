/** `git http-backend` behind node:http, with faults. */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** `refs` lists refs, `pack` transfers objects, `push` receives them. */
export type Step = 'refs' | 'pack' | 'push';

export type Fault =
  | { readonly do: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly do: 'reset' }
  | { readonly do: 'hang' }
  /** Ends the body after that many bytes, without an error. */
  | { readonly do: 'truncate'; readonly bytes: number }
  /** Sends single bytes with that pause. */
  | { readonly do: 'drip'; readonly everyMs: number }
  | { readonly do: 'garbage' }
  /** Carries out the request, and closes the connection without an answer. */
  | { readonly do: 'lose' }
  /** Calls `act` before the server responds. */
  | { readonly do: 'first'; readonly act: () => void };

export interface GitHttpServer {
  readonly url: string;
  readonly requests: { readonly step: Step | 'other'; readonly authorization: string | undefined }[];
  /** Until `heal`. */
  fail(step: Step, fault: Fault): void;
  heal(): void;
  close(): Promise<void>;
}

interface Options {
  /** Folder of the bare repositories. */
  readonly root: string;
  /** Expected as the password of any user. */
  readonly token?: string;
  /** Tells whether a password is accepted. Default: all are. */
  readonly accepts?: (password: string) => boolean;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Address to listen on. Default: only this machine. */
  readonly host?: string;
}

export async function startGitHttpServer({
  root,
  token,
  accepts = () => true,
  tls,
  host = '127.0.0.1',
}: Options): Promise<GitHttpServer> {
  const faults = new Map<Step, Fault>();
  const requests: GitHttpServer['requests'] = [];
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    const step = stepOf(request);
    requests.push({ step, authorization: request.headers.authorization });
    const isRefused = token !== undefined && !request.headers.authorization?.endsWith(btoa(`git:${token}`));
    if (isRefused || !accepts(passwordOf(request))) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    answer(request, response, step === 'other' ? undefined : faults.get(step));
  };
  const server = tls ? createTlsServer(tls, handler) : createServer(handler);
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `${tls ? 'https' : 'http'}://${host}:${port}`,
    requests,
    fail: (step, fault) => void faults.set(step, fault),
    heal: () => faults.clear(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  function answer(request: IncomingMessage, response: ServerResponse, fault: Fault | undefined): void {
    const refusal = fault && REFUSALS[fault.do];
    if (refusal) {
      refusal(request, response, fault);
      return;
    }
    if (fault?.do === 'first') fault.act();
    backend(request, response, root, fault);
  }
}

/** Faults that do not run git. */
const REFUSALS: Readonly<
  Partial<Record<Fault['do'], (request: IncomingMessage, response: ServerResponse, fault: Fault) => void>>
> = {
  status: (_, response, fault) => {
    if (fault.do === 'status') response.writeHead(fault.status, fault.headers).end('no');
  },
  reset: (request) => void request.socket.destroy(),
  hang: () => undefined,
  garbage: (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>please sign in</html>'),
};

function stepOf({ url = '', headers }: IncomingMessage): Step | 'other' {
  // Protocol 2 lists refs with a POST to git-upload-pack too; only the body differs (`command=ls-refs`).
  if (url.includes('/info/refs')) return 'refs';
  if (url.endsWith('/git-receive-pack')) return 'push';
  if (!url.endsWith('/git-upload-pack')) return 'other';
  return headers['git-protocol'] === 'version=2' ? 'refs' : 'pack';
}

function backend(request: IncomingMessage, response: ServerResponse, root: string, fault?: Fault): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://x');
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: [request.headers['git-protocol'] ?? ''].join(),
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_USER: 'git',
    },
  });
  request.pipe(child.stdin).on('error', () => undefined);
  void relay(child.stdout, response, fault).catch(() => response.destroy());
}

/** Relays a CGI response: headers, an empty line, the body. */
async function relay(output: AsyncIterable<Buffer>, response: ServerResponse, fault?: Fault): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of output) chunks.push(chunk);
  const all = Buffer.concat(chunks);
  const end = all.indexOf('\r\n\r\n');
  const headers = all
    .subarray(0, end)
    .toString('latin1')
    .split('\r\n')
    .map((line) => line.split(': '));
  const status = headers.find(([name]) => name === 'Status')?.[1];
  for (const [name = '', value = ''] of headers) if (name !== 'Status') response.setHeader(name, value);
  response.writeHead(Number.parseInt(status ?? '200', 10));
  await send(all.subarray(end + 4), response, fault);
}

async function send(body: Buffer, response: ServerResponse, fault?: Fault): Promise<void> {
  if (fault?.do === 'lose') {
    response.destroy();
    return;
  }
  if (fault?.do === 'drip') await sendSlowly(body, response, fault.everyMs);
  response.end(fault?.do === 'truncate' ? body.subarray(0, fault.bytes) : body);
}

async function sendSlowly(body: Buffer, response: ServerResponse, everyMs: number): Promise<void> {
  for (const byte of body) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    // oxlint-disable-next-line no-await-in-loop -- the fault is to be slow
    await new Promise((resolve) => void setTimeout(resolve, everyMs));
  }
}

function passwordOf({ headers: { authorization = '' } }: IncomingMessage): string {
  return atob(authorization.replace(/^Basic /, '')).replace(/^[^:]*:/, '');
}
