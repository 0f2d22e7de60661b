/** Sends the pages around the sign-in. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { sendContent } from '../../server/replies.ts';

/** Permits a form that this page sends to its own server, and a style. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** With no-referrer, browsers send `Origin: null` with a form: then a form of another site would be the same. */
const HEADERS = { 'content-security-policy': POLICY, 'referrer-policy': 'same-origin' };

export interface HtmlReply {
  readonly page: string;
  readonly headers?: OutgoingHttpHeaders;
}

export function sendHtml(response: ServerResponse, status: number, { page, headers = {} }: HtmlReply): void {
  sendContent(response, status, {
    type: 'text/html; charset=utf-8',
    content: page,
    headers: { ...HEADERS, ...headers },
  });
}

/** After a form, the browser gets another page by GET. `cookies` are set with it. */
export function redirectTo(response: ServerResponse, path: string, cookies: readonly string[] = []): void {
  sendContent(response, 303, {
    type: 'text/plain; charset=utf-8',
    content: '',
    headers: { location: path, ...(cookies.length > 0 ? { 'set-cookie': [...cookies] } : {}) },
  });
}
