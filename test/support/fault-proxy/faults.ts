/** The faults of a network and of a server that is unwell, as words to make rules of. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from './call.ts';
import type { Fault, Passage, When, WholeAnswer } from './passage.ts';
import { type StatusOptions, statusObject } from './status.ts';

/** The connection closes without an answer. */
export function drop(when: When): Fault {
  return broken('drop', when, (passage) => passage.cut('close'));
}

/** The same with a TCP reset. */
export function reset(when: When): Fault {
  return broken('reset', when, (passage) => passage.cut('reset'));
}

/** No answer, for as long as the client waits. */
export function hang(when: When): Fault {
  return broken('hang', when, (passage) => passage.gone);
}

function broken(name: string, when: When, then: (passage: Passage) => unknown): Fault {
  return {
    name: `${name} ${when}`,
    async act(passage) {
      if (when === 'after') await passage.ask();
      await then(passage);
    },
  };
}

export function delay(ms: number, when: When = 'before'): Fault {
  return interrupted('delay', when, ({ ending }) => pause(ms, undefined, { signal: ending }));
}

/** Runs `run`, and goes on when it has settled. */
export function callback(run: () => unknown, when: When = 'before'): Fault {
  return interrupted('callback', when, run);
}

/** Holds a request until the test lets it go. */
export interface Gate {
  /** Resolves when a request stands at the gate. */
  readonly arrived: Promise<void>;
  open(): void;
  readonly hold: (when?: When) => Fault;
}

export function gate(): Gate {
  const arrived = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const wait = async ({ gone }: Passage): Promise<void> => {
    arrived.resolve();
    await Promise.race([opened.promise, gone]);
  };
  const hold = (when: When = 'before'): Fault => interrupted('hold', when, wait);
  return { arrived: arrived.promise, open: opened.resolve, hold };
}

function interrupted(name: string, when: When, wait: (passage: Passage) => unknown): Fault {
  return {
    name: `${name} ${when}`,
    async act(passage) {
      if (when === 'before') {
        await wait(passage);
        await passage.pass();
        return;
      }
      const whole = await passage.ask();
      await wait(passage);
      passage.reply(whole);
    },
  };
}

/**
 * SIGKILL for the client, before the server saw the request or after it acted on it. Nothing goes either way
 * afterwards, so which of the two it was is certain.
 */
export function killClient(pid: () => number, when: When): Fault {
  return broken('kill', when, (passage) => {
    process.kill(pid(), 'SIGKILL');
    passage.cut('close');
  });
}

export interface AnswerOptions extends StatusOptions {
  /** `after`: the server acted, and its answer is replaced. Default: it never saw the request. */
  readonly when?: When;
}

/** A Status, as an API server answers it. */
export function answer(status: number, { when = 'before', ...options }: AnswerOptions = {}): Fault {
  const { retryAfterSeconds } = options;
  const wait = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const headers = { 'content-type': 'application/json', ...wait };
  const body = Buffer.from(JSON.stringify(statusObject(status, options)));
  return broken(`answer ${status}`, when, (passage) => passage.reply({ status, headers, body }));
}

/** The server acts; of its answer only the first part arrives, and the connection breaks. */
export function truncate(part = 0.5): Fault {
  return {
    name: 'truncate',
    async act(passage) {
      const whole = await passage.ask();
      // With the length of the whole, so that the client knows that something is missing.
      passage.begin({ ...whole, headers: { ...whole.headers, 'content-length': String(whole.body.length) } });
      await passage.write(firstPart(whole.body, part));
      passage.cut('close');
    },
  };
}

/** The same, but as HTTP the answer is whole: only its JSON ends early. */
export function truncateQuietly(part = 0.5): Fault {
  return rewritten('truncate quietly', (whole) => ({ ...whole, body: firstPart(whole.body, part) }));
}

function firstPart(body: Buffer, part: number): Buffer {
  return body.subarray(0, Math.floor(body.length * part));
}

/** 200 and no body at all. */
export function emptyBody(): Fault {
  return rewritten('empty body', (whole) => ({ ...whole, status: 200, body: Buffer.alloc(0) }));
}

/** 200 and a list of the right kind, with a fresh resourceVersion and nothing in it. */
export function emptyList(): Fault {
  return rewritten('empty list', (whole) => {
    const list = JSON.parse(whole.body.toString('utf8')) as { items?: unknown; metadata?: object };
    if (!Array.isArray(list.items)) throw new Error('the server answered no list, so there is none to empty');
    const metadata = { ...list.metadata, continue: undefined, remainingItemCount: undefined };
    return { ...whole, status: 200, body: jsonOf({ ...list, metadata, items: [] }) };
  });
}

/**
 * Discovery while an aggregated API is down. `stale`: the group is listed without its resources, and asking it
 * directly is a 503, as real servers do; `missing`: it is not even listed.
 */
export function brokenDiscovery(group: string, how: 'stale' | 'missing' = 'stale'): Fault {
  const unavailable = {
    status: 503,
    headers: { 'content-type': 'application/json' },
    body: jsonOf(statusObject(503)),
  };
  return rewritten(`discovery ${how}`, (whole, call) => {
    if (call.group === group) return unavailable;
    const list = JSON.parse(whole.body.toString('utf8')) as DiscoveryList;
    return {
      ...whole,
      body: jsonOf(how === 'missing' ? withoutGroup(list, group) : withStaleGroup(list, group)),
    };
  });
}

interface DiscoveryList {
  /** Aggregated: one request for all groups with their resources. */
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly object[];
  }[];
  /** The older form: names only. */
  readonly groups?: readonly { readonly name: string }[];
}

function withoutGroup(list: DiscoveryList, group: string): DiscoveryList {
  const items = list.items?.filter(({ metadata }) => metadata?.name !== group);
  return {
    ...list,
    ...(items && { items }),
    ...(list.groups && { groups: list.groups.filter(({ name }) => name !== group) }),
  };
}

function withStaleGroup(list: DiscoveryList, group: string): DiscoveryList {
  const items = list.items?.map((item) => {
    if (item.metadata?.name !== group) return item;
    return {
      ...item,
      versions: item.versions?.map((version) => ({ ...version, freshness: 'Stale', resources: [] })) ?? [],
    };
  });
  return { ...list, ...(items && { items }) };
}

/**
 * What the server said to the first of the requests that the rule matches (same path and selectors), as a cache that lags
 * behind would. Goes with `nth` of 2 or more: the first is what is remembered. Later pages of an old list come from the
 * server itself, by the continue token of the old one.
 */
export function replay(): Fault {
  const memory = new Map<string, WholeAnswer>();
  return {
    name: 'replay',
    observe(call, whole) {
      const key = keyOf(call);
      if (whole.status === 200 && !call.query['continue'] && !memory.has(key)) memory.set(key, whole);
    },
    async act(passage) {
      if (passage.call.query['continue']) return passage.pass();
      const old = memory.get(keyOf(passage.call));
      if (!old) throw new Error(`replay remembers nothing of ${passage.call.path}: set nth to 2 or more`);
      return passage.reply(old);
    },
  };
}

// What differs from one list to the next without asking for other objects.
const OF_THE_MOMENT = new Set([
  'resourceVersion',
  'resourceVersionMatch',
  'timeout',
  'timeoutSeconds',
  'limit',
]);

function keyOf({ path, query }: Call): string {
  const asked = Object.entries(query).filter(([name]) => !OF_THE_MOMENT.has(name));
  return JSON.stringify([path, asked.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

function rewritten(name: string, rewrite: (whole: WholeAnswer, call: Call) => WholeAnswer): Fault {
  return {
    name,
    async act(passage) {
      passage.reply(rewrite(await passage.ask(), passage.call));
    },
  };
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
