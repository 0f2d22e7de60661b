/** Sends short answers with the headers that all answers of the console have. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { SECURITY_HEADERS } from './guard.ts';

export function sendText(response: ServerResponse, status: number, text: string): void {
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {};
  sendContent(response, status, { type: 'text/plain; charset=utf-8', content: `${text}\n`, headers: allow });
}

export interface ReplyContent {
  readonly type: string;
  readonly content: string | Buffer;
  readonly headers?: OutgoingHttpHeaders;
}

/** Node omits the body for a HEAD request. */
export function sendContent(
  response: ServerResponse,
  status: number,
  { type, content, headers = {} }: ReplyContent,
): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(content),
    ...headers,
  });
  response.end(content);
}
