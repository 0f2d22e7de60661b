/** Simulates the sites of publishers: files, redirects, indexes, and the faults that affect downloads. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Publisher {
  readonly url: string;
  /** Environment with which the program under test asks this server instead of the real sites. */
  readonly env: Readonly<Record<string, string>>;
  /** Content by path. */
  readonly files: Map<string, string>;
  /** Answers of other kinds by path: the first one for the first request, the last one for all further requests. */
  readonly answers: Map<string, PublisherAnswer[]>;
  /** Requested paths in order, with the range if there was one. */
  readonly asked: string[];
}

export type PublisherAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** Closed at the end of the test. */
export async function startPublisher(): Promise<Publisher> {
  const [files, answers, asked] = [
    new Map<string, string>(),
    new Map<string, PublisherAnswer[]>(),
    [] as string[],
  ];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const { range } = request.headers;
    asked.push(range === undefined ? path : `${path} ${range}`);
    const queue = answers.get(path) ?? [];
    const answer = queue.length > 1 ? queue.shift() : queue[0];
    const content = files.get(path);
    if (answer) answer(request, response);
    else if (content === undefined) response.writeHead(404).end();
    else sendFile(request, response, content);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    KUBENODE_KUBE_DOWNLOADS: `${url}/kube`,
    KUBENODE_GITHUB_DOWNLOADS: `${url}/github/`,
    KUBENODE_GITHUB_API: `${url}/api`,
  };
  return { url, env, files, answers, asked };
}

/** With a validator and ranges, as the servers of releases. */
export function sendFile(request: IncomingMessage, response: ServerResponse, content: string): void {
  const etag = etagOf(content);
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (from === 0 || request.headers['if-range'] !== etag) {
    response.writeHead(200, { etag, 'content-length': content.length }).end(content);
    return;
  }
  const rest = content.slice(from);
  const range = `bytes ${from}-${content.length - 1}/${content.length}`;
  response.writeHead(206, { etag, 'content-length': rest.length, 'content-range': range }).end(rest);
}

/** Sends so much of the file, and closes the connection once it has arrived. Without a validator for an empty one. */
export function truncated(content: string, length: number, etag = etagOf(content)): PublisherAnswer {
  return (_, response) => {
    response.writeHead(200, { ...(etag !== '' && { etag }), 'content-length': content.length });
    response.write(content.slice(0, length), () => response.socket?.end());
  };
}

function etagOf(content: string): string {
  return `"${sha256Of(content).slice(0, 8)}"`;
}

export function redirectTo(location: string): PublisherAnswer {
  return (_, response) => void response.writeHead(302, { location }).end();
}

export function sha256Of(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
