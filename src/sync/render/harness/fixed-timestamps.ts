/**
 * Fixes the times that Node itself attaches to objects, without the global Date: of files, `File`, `Event` and `performance`. Also
 * fixes what else identifies the file system of this machine.
 */
import fs, { type BigIntStats, type Stats } from 'node:fs';
import perfHooks from 'node:perf_hooks';

const TIMES = ['atime', 'mtime', 'ctime', 'birthtime'];
const NUMBERS = ['dev', 'ino', 'uid', 'gid', 'rdev', 'blksize', 'blocks'];

export function fixTimestamps(nowMs: number): void {
  fixStats(fs.statSync('.'), (value) => value, nowMs);
  fixStats(fs.statSync('.', { bigint: true }), BigInt, nowMs);
  fixGetter(File.prototype, 'lastModified', nowMs);
  fixGetter(Event.prototype, 'timeStamp', 0);
  fixPerformance(nowMs);
}

/** The constructor assigns the fields: an accessor of the prototype without effect keeps the fixed value. */
function fixStats(stats: Stats | BigIntStats, convert: (value: number) => unknown, nowMs: number): void {
  const prototype: unknown = Object.getPrototypeOf(stats);
  const values = [
    ...TIMES.map((name) => [`${name}Ms`, convert(nowMs)] as const),
    ...TIMES.map((name) => [`${name}Ns`, BigInt(nowMs) * 1_000_000n] as const),
    ...NUMBERS.map((name) => [name, convert(0)] as const),
  ];
  const assigned = values.filter(([name]) => name in stats);
  for (const [name, value] of assigned) {
    Object.defineProperty(prototype, name, { get: () => value, set: ignore, enumerable: true });
  }
}

function fixPerformance(nowMs: number): void {
  const prototype: unknown = Object.getPrototypeOf(performance);
  const replaced = {
    now: () => 0,
    mark: createEntry,
    measure: createEntry,
    getEntries: () => [],
    getEntriesByName: () => [],
    getEntriesByType: () => [],
    timerify: <T>(work: T): T => work,
    eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
    toJSON: () => ({ timeOrigin: nowMs }),
  };
  for (const [name, value] of Object.entries(replaced)) Object.defineProperty(prototype, name, { value });
  fixGetter(prototype, 'timeOrigin', nowMs);
  fixGetter(prototype, 'nodeTiming', undefined);
  for (const [name, value] of Object.entries(replaced)) {
    if (name in perfHooks) Object.defineProperty(perfHooks, name, { value });
  }
}

function fixGetter(prototype: unknown, name: string, value: unknown): void {
  Object.defineProperty(prototype, name, { get: () => value, configurable: false });
}

function createEntry(name: string): object {
  return { name, entryType: 'mark', startTime: 0, duration: 0, detail: null };
}

function ignore(_value: unknown): void {}
