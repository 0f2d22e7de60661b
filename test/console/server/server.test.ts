import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenAccess, type OpenAccessOptions } from '../../../src/console/server/access.ts';
import {
  type ConsoleServer,
  type ConsoleServerOptions,
  startConsoleServer,
} from '../../../src/console/server/server.ts';
import type { ConsoleSource } from '../../../src/console/server/streams.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { stateOf } from '../fixtures.ts';
import { nextContent, openEvents } from './event-reader.ts';

/** A fleet that a test changes. */
function changingSource(first: ConsoleState): {
  readonly source: ConsoleSource;
  readonly reads: () => number;
  readonly change: (state: ConsoleState) => void;
} {
  const handlers: (() => void)[] = [];
  let state = first;
  let reads = 0;
  return {
    source: {
      current() {
        reads += 1;
        return state;
      },
      subscribe: (handler) => void handlers.push(handler),
    },
    reads: () => reads,
    change: (next) => {
      state = next;
      for (const handler of handlers) handler();
    },
  };
}

const files = new Map([['/', { type: 'text/html; charset=utf-8', content: Buffer.from('<p>page</p>') }]]);
const ready = stateOf({ 'a/m-1': 'Ready' });
let open: ConsoleServer[] = [];

afterEach(async () => {
  await Promise.all(open.map((server) => server.close()));
  open = [];
});

async function start(
  options: Partial<Omit<ConsoleServerOptions, 'access'> & OpenAccessOptions> = {},
): Promise<ConsoleServer> {
  const host = '127.0.0.1';
  const { source } = changingSource(ready);
  const access = createOpenAccess({ source, clock: createSystemClock(), host, ...options });
  const server = await startConsoleServer({ files, access, host, port: 0, ...options });
  open.push(server);
  return server;
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function send(
  url: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, ...options }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.once('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

const why: NonNullable<ConsoleSource['why']> = (cluster, name) =>
  cluster === 'a' ? Promise.resolve({ text: `why ${name}`, at: '' }) : undefined;
const noEvents: NonNullable<ConsoleSource['events']> = (cluster) =>
  cluster === 'a' ? Promise.resolve({ events: [], problem: 'no right' }) : undefined;

describe('startConsoleServer', () => {
  it('serves what only the detail of a machine shows, and nothing for a machine that it does not know', async () => {
    const { source } = changingSource(ready);
    const detail = { components: [], conditions: [] };
    const { url } = await start({
      source: {
        ...source,
        machine: (cluster, name) => (`${cluster}/${name}` === 'a/m 1' ? detail : undefined),
      },
    });
    const found = await send(`${url}machines/a/m%201`);
    expect([found.status, found.headers['content-type'], JSON.parse(found.body)]).toEqual([
      200,
      'application/json; charset=utf-8',
      detail,
    ]);
    expect((await send(`${url}machines/a/m-2`)).body).toBe('null');
    expect((await send(`${url}machines/%`)).body).toBe('null');
    expect((await send(`${(await start()).url}machines/a/m-1`)).body).toBe('null');
  });

  it('CON-30 serves the lines of a range that exists, and nothing without a Prometheus', async () => {
    const { source } = changingSource(ready);
    const asked: string[] = [];
    const answer = { at: 9, from: 0, step: 10, lines: { ready: [1] }, missing: [] };
    const past = (range: string) => {
      asked.push(range);
      return Promise.resolve(answer);
    };
    const { url } = await start({ source: { ...source, past } });
    expect(JSON.parse((await send(`${url}history/6h`)).body)).toEqual(answer);
    for (const path of ['history/7d', 'history/', 'history/6h%2F', 'history/__proto__']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await send(`${url}${path}`)).body).toBe('null');
    }
    expect(asked).toEqual(['6h']);
    expect((await send(`${(await start()).url}history/6h`)).body).toBe('null');
    expect((await send(`${url}constructor/6h`)).status).toBe(404);
  });

  it('CON-32 serves the answer of why and the events of a machine, and nothing for one that is not shown', async () => {
    const { source } = changingSource(ready);
    const { url } = await start({ source: { ...source, why, events: noEvents } });
    expect(JSON.parse((await send(`${url}why/a/m%2F1`)).body)).toEqual({ text: 'why m/1', at: '' });
    expect(JSON.parse((await send(`${url}events-of/a/m-1`)).body)).toEqual({
      events: [],
      problem: 'no right',
    });
    for (const path of ['why/b/m-1', 'events-of/b/m-1', 'why', 'events-of/']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await send(`${url}${path}`)).body).toBe('null');
    }
  });

  it('serves the page with a policy that permits only its own files', async () => {
    const { url } = await start();
    const { status, headers, body } = await send(url);
    expect([status, body]).toEqual([200, '<p>page</p>']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'/) as string,
      'x-content-type-options': 'nosniff',
    });
    expect((await send(url, { method: 'HEAD' })).body).toBe('');
  });

  it.each([
    ['another path', '/etc/passwd', {}, 404],
    ['a path that leaves the folder', '/../package.json', {}, 404],
    ['a write', '/', { method: 'POST' }, 405],
    ['the name of another site', '/', { headers: { host: 'evil.example' } }, 421],
    ['the events under the name of another site', '/events', { headers: { host: 'evil.example:80' } }, 421],
  ])('refuses %s', async (_, path, options, status) => {
    const { url } = await start();
    expect((await send(`${url.slice(0, -1)}${path}`, options)).status).toBe(status);
  });

  it('has no session without a login', async () => {
    const { url } = await start();
    expect(await send(`${url}session`)).toMatchObject({ status: 200, body: '{}' });
  });

  it('sends the state to a page that connects, and then only what changed', async () => {
    const { source, change } = changingSource(ready);
    const { url } = await start({ source });
    const events = await openEvents(url);
    expect(events.headers['content-type']).toBe('text/event-stream');
    expect(await events.next()).toEqual({ event: 'state', data: ready });
    change(stateOf({ 'a/m-1': 'Updating' }));
    expect(await events.next()).toEqual({
      event: 'patch',
      data: { machines: { set: { 'a/m-1': { p: 'Updating' } }, removed: [] } },
    });
    events.close();
  });

  it('gives a page that connects later the state that the patches of the others lead to', async () => {
    const { source, change } = changingSource(ready);
    const { url } = await start({ source });
    const first = await openEvents(url);
    await first.next();
    change(stateOf({ 'a/m-1': 'Updating' }));
    await first.next();
    const second = await openEvents(url);
    expect(await second.next()).toEqual({ event: 'state', data: stateOf({ 'a/m-1': 'Updating' }) });
    first.close();
    second.close();
  });

  it('sends many changes as one, twice a second at most, and computes nothing without a page', async () => {
    const clock = virtualClock();
    const { source, change, reads } = changingSource(ready);
    const { url } = await start({ source, clock });
    change(ready);
    await settle(clock, 500);
    expect(reads()).toBe(0);
    const events = await openEvents(url);
    await events.next();
    change(stateOf({ 'a/m-1': 'Joining' }));
    expect(await events.next()).toMatchObject({ event: 'patch' });
    const before = reads();
    for (const phase of ['Updating', 'NotReady', 'Held']) change(stateOf({ 'a/m-1': phase }));
    await settle(clock, 500);
    expect(await events.next()).toMatchObject({ data: { machines: { set: { 'a/m-1': { p: 'Held' } } } } });
    expect(reads() - before).toBe(1);
    events.close();
  });

  it('sends a heartbeat, so that the page notices a lost connection', async () => {
    const clock = virtualClock();
    const { url } = await start({ clock });
    const events = await openEvents(url);
    await events.next();
    await settle(clock, 15_000);
    expect(await events.next()).toEqual({ event: 'heartbeat', data: {} });
    events.close();
  });

  it('refuses one page too many, and accepts it when another was closed', async () => {
    const { url } = await start({ maxStreams: 1 });
    const first = await openEvents(url);
    await first.next();
    expect((await send(`${url}events`)).status).toBe(503);
    first.close();
    const second = await eventually(async () => {
      const events = await openEvents(url);
      return events.status === 200 ? events : undefined;
    }, 'no place for another page');
    expect(await second.next()).toMatchObject({ event: 'state' });
    second.close();
  });

  it('leaves pages to other addresses when one opens as many as it can', async () => {
    const { url } = await start({ maxStreamsPerAddress: 1 });
    const first = await openEvents(url);
    await first.next();
    expect((await send(`${url}events`)).status).toBe(503);
    const other = await openEvents(url, { localAddress: '127.0.0.2' });
    expect(await other.next()).toMatchObject({ event: 'state' });
    first.close();
    other.close();
  });

  it('serves the page and keeps open pages while half-open requests take all connections', async () => {
    const { url } = await start({ headersMs: 500, connections: { total: 20, perAddress: 10, reserved: 5 } });
    const page = await openEvents(url);
    await page.next();
    const port = Number(new URL(url).port);
    const ended: Promise<unknown>[] = [];
    const sockets = Array.from({ length: 60 }, (_, index) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${1 + (index % 4)}` });
      socket.on('error', () => undefined);
      ended.push(new Promise((resolve) => socket.once('close', resolve).resume()));
      socket.write('GET / HTTP/1.1\r\nHost: 127.0');
      return socket;
    });
    // 60 came, and 20 have a place.
    await Promise.race(ended);
    expect((await send(url)).body).toBe('<p>page</p>');
    expect(page.response.destroyed).toBe(false);
    // Nothing of a half-open request follows: each is closed when its headers took too long.
    await Promise.all(ended);
    for (const socket of sockets) socket.destroy();
    page.close();
  });

  it('disconnects a page that does not read, and no other', async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `a/a-machine-with-a-long-name-${index}`);
    const fleet = (phase: string): ConsoleState =>
      stateOf(Object.fromEntries(names.map((name) => [name, phase])));
    const { source, change } = changingSource(fleet('Ready'));
    const { url } = await start({ source, maxUnreadBytes: 2 * 1024 * 1024 });
    const reading = await openEvents(url);
    await nextContent(reading);
    const slow = connect(Number(new URL(url).port), '127.0.0.1');
    const closed = new Promise((resolve) => slow.once('close', resolve));
    slow.on('error', () => undefined);
    slow.pause();
    slow.write('GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    for (let round = 0; round < 20; round += 1) {
      change(fleet(`Phase${round}`));
      await nextContent(reading); // oxlint-disable-line no-await-in-loop -- each round is sent
    }
    slow.resume();
    await closed;
    change(fleet('Ready'));
    expect(await nextContent(reading)).toMatchObject({ event: 'patch' });
    reading.close();
  });

  it('ends the streams when it is closed', async () => {
    const server = await start();
    const events = await openEvents(server.url);
    await events.next();
    open = [];
    await server.close();
    expect(await events.next()).toBeUndefined();
    await expect(send(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('explains a port that is taken', async () => {
    const { url } = await start();
    await expect(start({ port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: 'PortInUse',
      hint: expect.stringContaining('choose another one') as string,
    });
  });
});

/** The loops of the server have begun to sleep before time passes. */
async function settle(clock: ReturnType<typeof virtualClock>, ms: number): Promise<void> {
  await eventually(() => Promise.resolve(clock.sleepers >= 1 || undefined), 'the server does not wait');
  await clock.advance(ms);
}
