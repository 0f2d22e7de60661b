/**
 * A stand-in for the APIs of GitHub and GitLab: it keeps commit statuses and pull requests as they document it, and answers with the faults that a test
 * sets. Must not import vitest.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StandInApp } from './github-app.ts';
import { createStandInPulls, type StandInAnswer, type StandInPulls } from './pull-requests.ts';

export interface HostFault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The host carries out the request before it fails. */
  readonly acts?: boolean;
}

export interface StandInStatus {
  readonly commit: string;
  readonly state: string;
  readonly context: string;
  readonly description: string;
  readonly link: string | undefined;
}

export interface StandInHost extends AsyncDisposable, Pick<StandInPulls, 'pulls' | 'comments'> {
  readonly url: string;
  /** Requests that arrived, also those that failed. */
  readonly calls: {
    readonly method: string;
    readonly path: string;
    readonly authorization: string | undefined;
    readonly etag: string | undefined;
  }[];
  /** Returns the newest status of a commit. */
  statusOf(commit: string): StandInStatus | undefined;
  /** A GitHub App whose tokens are accepted, too. */
  app?: StandInApp | undefined;
  /** Returns the fault of the next request, if any. `hang`: it is never answered. */
  fault: (call: number) => HostFault | 'hang' | undefined;
}

const GITHUB = /^\/api\/v3\/repos\/(?<project>[^/]+\/[^/]+)\/statuses\/(?<commit>[^/]+)$/;
const GITLAB = /^\/api\/v4\/projects\/(?<project>[^/]+)\/statuses\/(?<commit>[^/]+)$/;

interface Sent {
  readonly state: string;
  readonly context?: string;
  readonly name?: string;
  readonly description: string;
  readonly target_url?: string;
}

export async function startStandInHost(token: string, project = 'acme/fleet'): Promise<StandInHost> {
  const statuses = new Map<string, StandInStatus>();
  const calls: StandInHost['calls'] = [];
  const board = createStandInPulls();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const host: StandInHost = {
    url: `http://127.0.0.1:${port}`,
    calls,
    pulls: board.pulls,
    comments: board.comments,
    statusOf: (commit) => statuses.get(commit),
    fault: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return host;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const { method = '', url: path = '', headers } = request;
    const { authorization, 'if-none-match': etag } = headers;
    calls.push({ method, path, authorization, etag });
    const fault = host.fault(calls.length);
    if (fault === 'hang') return;
    if (!fault || fault.acts) {
      const found = authorized(request, body);
      if (!fault) return respond(response, found);
    }
    response.writeHead(fault.status, fault.headers).end(fault.body ?? '{"message":"refused"}');
  }

  function authorized({ method = '', url = '', headers }: IncomingMessage, body: string): StandInAnswer {
    const issued = host.app?.answer({ method, url, authorization: headers.authorization });
    if (issued) return issued;
    if (!isAccepted(headers.authorization)) {
      return { status: 401, json: { message: 'Bad credentials' } };
    }
    const pulls = board.answer({ method, url, body, etag: headers['if-none-match'] });
    return pulls ?? carryOut(url, JSON.parse(body) as Sent);
  }

  function isAccepted(authorization = ''): boolean {
    return authorization === `Bearer ${token}` || host.app?.accepts(authorization.slice(7)) === true;
  }

  function carryOut(url: string, sent: Sent): StandInAnswer {
    const found = pathOf(url);
    if (found?.project !== project) return { status: 404, json: { message: 'Not Found' } };
    const before = statuses.get(found.commit)?.state;
    statuses.set(found.commit, statusFrom(found.commit, sent));
    const isRepeated = before === 'running' && sent.state === 'running';
    return GITLAB.test(url) && isRepeated
      ? { status: 400, json: { message: 'Cannot transition status via :run from :running' } }
      : { status: 201, json: { id: calls.length, ...sent } };
  }
}

function pathOf(url: string): { readonly project: string; readonly commit: string } | undefined {
  const { project, commit } = (GITHUB.exec(url) ?? GITLAB.exec(url))?.groups ?? {};
  if (project === undefined || commit === undefined) return undefined;
  return { project: decodeURIComponent(project), commit };
}

function statusFrom(commit: string, sent: Sent): StandInStatus {
  const { state, description, target_url: link } = sent;
  return { commit, state, context: sent.context ?? sent.name ?? '', description, link };
}

function respond(response: ServerResponse, { status, json, headers }: StandInAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
