/** Reads the events of a console as a browser does. */
import { type IncomingMessage, request } from 'node:http';

export interface ConsoleEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface EventReader {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Resolves with the next event; undefined: the stream has ended. */
  next(): Promise<ConsoleEvent | undefined>;
  readonly response: IncomingMessage;
  close(): void;
}

export interface EventRequest {
  readonly localAddress?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openEvents(url: string, options: EventRequest = {}): Promise<EventReader> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(new URL('/events', url), { agent: false, ...options }, resolve);
  sent.once('error', reject);
  sent.end();
  const response = await promise;
  sent.on('error', () => undefined);
  const events = readEvents(response);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next: async () => (await events.next()).value as ConsoleEvent | undefined,
    response,
    close: () => sent.destroy(),
  };
}

/** Returns the next event, without heartbeats: a slow machine sends these between any two others. */
export async function nextContent(reader: Pick<EventReader, 'next'>): Promise<ConsoleEvent | undefined> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one event after the other
    const event = await reader.next();
    if (event?.event !== 'heartbeat') return event;
  }
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<ConsoleEvent> {
  let text = '';
  for await (const chunk of chunksOf(response)) {
    const parts = `${text}${chunk}`.split('\n\n');
    text = parts.pop() ?? '';
    yield* parts.flatMap(parseEvent);
  }
}

async function* chunksOf(response: IncomingMessage): AsyncGenerator<string> {
  try {
    for await (const chunk of response.setEncoding('utf8')) yield String(chunk);
  } catch {
    // The server ended the connection: the end of the events.
  }
}

function parseEvent(text: string): readonly ConsoleEvent[] {
  const { event, data } = /^event: (?<event>.*)\ndata: (?<data>.*)$/m.exec(text)?.groups ?? {};
  return event === undefined || data === undefined ? [] : [{ event, data: JSON.parse(data) as unknown }];
}
