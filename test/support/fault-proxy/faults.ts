/** Faults of a network and of an unhealthy server, for use in rules. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from './call.ts';
import type { Fault, ProxiedRequest, When, WholeAnswer } from './proxied-request.ts';
import { type StatusOptions, statusObject } from './status.ts';

/** The connection closes without an answer. */
export function drop(when: When): Fault {
  return broken('drop', when, (proxied) => proxied.cut('close'));
}

/** The same with a TCP reset. */
export function reset(when: When): Fault {
  return broken('reset', when, (proxied) => proxied.cut('reset'));
}

/** Never answers, however long the client waits. */
export function hang(when: When): Fault {
  return broken('hang', when, (proxied) => proxied.disconnected);
}

function broken(name: string, when: When, then: (proxied: ProxiedRequest) => unknown): Fault {
  return {
    name: `${name} ${when}`,
    async act(proxied) {
      if (when === 'after') await proxied.ask();
      await then(proxied);
    },
  };
}

export function delay(ms: number, when: When = 'before'): Fault {
  return interrupted('delay', when, ({ ending }) => pause(ms, undefined, { signal: ending }));
}

/** Runs `run`, and continues when it has settled. */
export function callback(run: () => unknown, when: When = 'before'): Fault {
  return interrupted('callback', when, run);
}

/** Holds a request until the test releases it. */
export interface Gate {
  /** Resolves when a request is held. */
  readonly arrived: Promise<void>;
  open(): void;
  readonly hold: (when?: When) => Fault;
}

export function gate(): Gate {
  const arrived = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const wait = async ({ disconnected }: ProxiedRequest): Promise<void> => {
    arrived.resolve();
    await Promise.race([opened.promise, disconnected]);
  };
  const hold = (when: When = 'before'): Fault => interrupted('hold', when, wait);
  return { arrived: arrived.promise, open: opened.resolve, hold };
}

function interrupted(name: string, when: When, wait: (proxied: ProxiedRequest) => unknown): Fault {
  return {
    name: `${name} ${when}`,
    async act(proxied) {
      if (when === 'before') {
        await wait(proxied);
        await proxied.forward();
        return;
      }
      const whole = await proxied.ask();
      await wait(proxied);
      proxied.reply(whole);
    },
  };
}

/**
 * Sends SIGKILL to the client, before the server received the request or after it acted on it. No byte is forwarded
 * afterwards, so there is no doubt which of the two happened.
 */
export function killClient(pid: () => number, when: When): Fault {
  return broken('kill', when, (proxied) => {
    process.kill(pid(), 'SIGKILL');
    proxied.cut('close');
  });
}

export interface AnswerOptions extends StatusOptions {
  /** `after`: the server acted, and its answer is replaced. Default: it never received the request. */
  readonly when?: When;
}

/** Answers with a Status, as an API server does. */
export function answer(status: number, { when = 'before', ...options }: AnswerOptions = {}): Fault {
  const { retryAfterSeconds } = options;
  const wait = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const headers = { 'content-type': 'application/json', ...wait };
  const body = Buffer.from(JSON.stringify(statusObject(status, options)));
  return broken(`answer ${status}`, when, (proxied) => proxied.reply({ status, headers, body }));
}

/** The server acts; only the first part of its answer arrives, then the connection breaks. */
export function truncate(part = 0.5): Fault {
  return {
    name: 'truncate',
    async act(proxied) {
      const whole = await proxied.ask();
      // With the length of the whole answer, so that the client detects the missing part.
      proxied.begin({ ...whole, headers: { ...whole.headers, 'content-length': String(whole.body.length) } });
      await proxied.write(firstPart(whole.body, part));
      proxied.cut('close');
    },
  };
}

/** The same, but with a complete HTTP answer: only its JSON is truncated. */
export function truncateQuietly(part = 0.5): Fault {
  return rewritten('truncate quietly', (whole) => ({ ...whole, body: firstPart(whole.body, part) }));
}

function firstPart(body: Buffer, part: number): Buffer {
  return body.subarray(0, Math.floor(body.length * part));
}

/** 200 without a body. */
export function emptyBody(): Fault {
  return rewritten('empty body', (whole) => ({ ...whole, status: 200, body: Buffer.alloc(0) }));
}

/** 200 and an empty list of the right kind, with a fresh resourceVersion. */
export function emptyList(): Fault {
  return rewritten('empty list', (whole) => {
    const list = JSON.parse(whole.body.toString('utf8')) as { items?: unknown; metadata?: object };
    if (!Array.isArray(list.items)) {
      throw new Error('cannot empty the list: the answer of the server is not a list');
    }
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
  /** Aggregated discovery: one request for all groups with their resources. */
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
 * Repeats the answer to the first request that the rule matches (same path and selectors), as a stale cache
 * would. Needs `nth` of 2 or more: the first answer is recorded. Later pages of an old list come from the
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
    async act(proxied) {
      if (proxied.call.query['continue']) return proxied.forward();
      const old = memory.get(keyOf(proxied.call));
      if (!old) {
        throw new Error(`replay has no recorded answer to ${proxied.call.path}: set nth to 2 or more`);
      }
      return proxied.reply(old);
    },
  };
}

// Parameters that differ from one list to the next although the same objects are requested.
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
    async act(proxied) {
      proxied.reply(rewrite(await proxied.ask(), proxied.call));
    },
  };
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
