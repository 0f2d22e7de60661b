/** A client of the console that keeps cookies, follows no redirect, and sends the headers of a browser. */
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { type EventReader, openEvents } from '../server/event-reader.ts';

export interface PageReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface SendOptions {
  readonly method?: string;
  readonly form?: Readonly<Record<string, string>>;
  /** Undefined values remove a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export interface CookieClient {
  readonly cookies: Map<string, string>;
  /** All answers, with their headers, as text: for what must not be in them. */
  readonly received: string[];
  send(path: string, options?: SendOptions): Promise<PageReply>;
  /** Opens the sign-in page, and sends its form. */
  signIn(token: string, options?: SendOptions): Promise<PageReply>;
  events(): Promise<EventReader>;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** `host`: the name under which the client knows the console, if it is not its address. */
export function createCookieClient(url: string, host = new URL(url).host, scheme = 'http'): CookieClient {
  const cookies = new Map<string, string>();
  const received: string[] = [];
  return { cookies, received, send, signIn, events };

  function browserHeaders(method: string): Record<string, string | undefined> {
    const ownSite = { origin: `${scheme}://${host}`, 'sec-fetch-site': 'same-origin' };
    return { host, ...cookieHeader(), ...(method === 'GET' ? {} : ownSite) };
  }

  function cookieHeader(): Record<string, string> {
    const text = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return text === '' ? {} : { cookie: text };
  }

  async function send(
    path: string,
    { method = 'GET', form, headers = {} }: SendOptions = {},
  ): Promise<PageReply> {
    const body = form && new URLSearchParams(form).toString();
    const all = { ...browserHeaders(method), ...(form ? FORM : {}), ...headers };
    const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const reply = await exchange(new URL(path, url), { method, headers: present, body });
    received.push(JSON.stringify(reply.headers), reply.body);
    for (const text of reply.headers['set-cookie'] ?? []) keepCookie(text);
    return reply;
  }

  function keepCookie(text: string): void {
    const [pair = ''] = text.split(';');
    const [name = '', value = ''] = pair.split('=', 2);
    if (/Max-Age=0/.test(text)) cookies.delete(name);
    else cookies.set(name, value);
  }

  async function signIn(token: string, options: SendOptions = {}): Promise<PageReply> {
    const { body } = await send('/login');
    const form = /name="form" value="(?<value>[^"]*)"/.exec(body)?.groups?.['value'] ?? '';
    return await send('/login', { method: 'POST', form: { form, token }, ...options });
  }

  function events(): Promise<EventReader> {
    return openEvents(url, { headers: { host, ...cookieHeader() } });
  }
}

interface Exchange {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | undefined;
}

function exchange(url: URL, { method, headers, body }: Exchange): Promise<PageReply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
