/** A receiver of notices on this computer, which answers with the status that a test sets. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface NoticeReceiver {
  readonly url: string;
  /** What arrived, with the status that was answered. */
  readonly requests: {
    readonly authorization: string | undefined;
    readonly body: unknown;
    readonly status: number;
  }[];
  status: number;
}

export async function startNoticeReceiver(): Promise<NoticeReceiver> {
  const requests: NoticeReceiver['requests'] = [];
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const receiver: NoticeReceiver = { url: `http://127.0.0.1:${port}/hook`, requests, status: 200 };
  return receiver;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = JSON.parse(await text(request));
    const { status } = receiver;
    requests.push({ authorization: request.headers.authorization, body, status });
    response.writeHead(status).end('an answer that is never quoted');
  }
}
