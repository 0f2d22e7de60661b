/**
 * A sweep: one clean run is recorded, then it is repeated once for each pair of a request and a fault.
 *
 *     const points = sweep(proxy.log, READ_FAULTS);
 *     it.each(slice(points, 200))('$title', async ({ rule }) => { proxy.on(rule()); … });
 */
import { type Verb, WRITES } from './call.ts';
import {
  answer,
  brokenDiscovery,
  drop,
  emptyBody,
  emptyList,
  replay,
  reset,
  truncate,
  truncateQuietly,
} from './faults.ts';
import type { Exchange } from './log.ts';
import type { Fault } from './proxied-request.ts';
import type { Rule } from './rules.ts';
import { closeWatch, freezeWatch, tearWatch, watchError } from './watch-faults.ts';

export interface FaultCase {
  readonly name: string;
  readonly verbs: ReadonlySet<Verb>;
  /** Only from the second request of its kind on. */
  readonly needsEarlier?: boolean;
  make(exchange: Exchange): Fault;
}

const READS: ReadonlySet<Verb> = new Set(['get', 'list', 'discover', 'raw']);
const LISTS: ReadonlySet<Verb> = new Set(['list']);
const WATCHES: ReadonlySet<Verb> = new Set(['watch']);
const DISCOVERY: ReadonlySet<Verb> = new Set(['discover']);

const STATUSES = [401, 403, 404, 409, 410, 422, 429, 500, 503, 504];

/** All faults of a read, except a server that never answers: that takes the whole timeout of a client. */
export const READ_FAULTS: readonly FaultCase[] = [
  ...STATUSES.map((status) => fault(`answer ${status}`, READS, () => answer(status))),
  fault('answer 429 with Retry-After', READS, () => answer(429, { retryAfterSeconds: 1 })),
  fault('drop', READS, () => drop('before')),
  fault('reset', READS, () => reset('after')),
  fault('truncate', READS, () => truncate()),
  fault('truncate quietly', READS, () => truncateQuietly()),
  fault('empty body', READS, emptyBody),
  fault('empty list', LISTS, emptyList),
  { ...fault('replay', new Set<Verb>(['get', 'list']), replay), needsEarlier: true },
  fault('stale discovery', DISCOVERY, ({ group }) => brokenDiscovery(group || 'apps')),
  fault('discovery without a group', DISCOVERY, ({ group }) => brokenDiscovery(group || 'apps', 'missing')),
];

/** Each before and after the server acts. */
export const WRITE_FAULTS: readonly FaultCase[] = (['before', 'after'] as const).flatMap((when) => [
  ...[403, 409, 422, 429, 500, 503, 504].map((status) =>
    fault(`answer ${status} ${when}`, WRITES, () => answer(status, { when })),
  ),
  fault(`drop ${when}`, WRITES, () => drop(when)),
  fault(`reset ${when}`, WRITES, () => reset(when)),
]);

export const WATCH_FAULTS: readonly FaultCase[] = [
  fault('answer 410', WATCHES, () => answer(410)),
  fault('answer 429', WATCHES, () => answer(429, { retryAfterSeconds: 1 })),
  fault('answer 503', WATCHES, () => answer(503)),
  fault('drop', WATCHES, () => drop('before')),
  fault('close', WATCHES, () => closeWatch()),
  fault('tear', WATCHES, () => tearWatch()),
  fault('error 410', WATCHES, () => watchError(410)),
  fault('freeze', WATCHES, () => freezeWatch()),
];

function fault(name: string, verbs: ReadonlySet<Verb>, make: (exchange: Exchange) => Fault): FaultCase {
  return { name, verbs, make };
}

export interface SweepPoint {
  /** Request and fault, for the message of a failing run. */
  readonly title: string;
  /** A new rule for each call, because faults have state. */
  rule(): Rule;
}

/** Requests are identified by their call and its number of repetitions, which holds when other requests overtake them. */
export function sweep(log: readonly Exchange[], cases: readonly FaultCase[]): readonly SweepPoint[] {
  const asked = new Map<string, number>();
  return log.flatMap((exchange) => {
    const { verb, path, listener, name } = exchange;
    const what = [listener, verb, path, verb === 'create' ? name : ''].join(' ');
    const nth = (asked.get(what) ?? 0) + 1;
    asked.set(what, nth);
    const fitting = cases.filter(({ verbs, needsEarlier }) => verbs.has(verb) && (nth > 1 || !needsEarlier));
    return fitting.map((each): SweepPoint => {
      const title = `${nth}. ${verb} ${path}${verb === 'create' ? ` ${name}` : ''}: ${each.name}`;
      const match = { listener, verb, path, ...(verb === 'create' && name !== undefined ? { name } : {}) };
      return { title, rule: () => ({ ...match, nth, fault: each.make(exchange) }) };
    });
  });
}
