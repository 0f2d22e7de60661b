/**
 * Fixes the clock, the random numbers and the properties of the host, so that a commit renders to the same bytes at any time.
 * The second render of a commit finds only what differs between two processes, not what differs from day to day. Other realms
 * (`node:vm`) have a clock of their own: disable-builtins.ts denies them.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { fixTimestamps } from './fixed-timestamps.ts';

/** The time in the sandbox is not that of the commit: a commit that changes nothing must not change a digest. */
const NOW_MS = Date.UTC(2000, 0, 1);
const SEED = 0x6b75_6265;

type UnknownRecord = Record<string, unknown>;

export function fixClockAndSeed(): void {
  const random = mulberry32(SEED);
  fixDate();
  fixTemporal();
  fixDateTimeFormat();
  fixTimestamps(NOW_MS);
  Object.defineProperty(Math, 'random', { value: random });
  fixCrypto(random);
  fixProcess();
  fixHost();
  syncBuiltinESMExports();
}

function fixDate(): void {
  const RealDate = Date;
  function FixedDate(this: unknown, ...args: unknown[]): unknown {
    if (!new.target) return new RealDate(NOW_MS).toString();
    return Reflect.construct(RealDate, args.length === 0 ? [NOW_MS] : args, new.target);
  }
  Object.assign(FixedDate, { UTC: RealDate.UTC, parse: RealDate.parse, now: () => NOW_MS });
  Object.defineProperty(FixedDate, 'prototype', { value: RealDate.prototype });
  Object.defineProperty(RealDate.prototype, 'constructor', { value: FixedDate });
  Object.defineProperty(globalThis, 'Date', { value: FixedDate });
}

function fixTemporal(): void {
  const temporal = (globalThis as UnknownRecord)['Temporal'] as
    | { Now?: UnknownRecord; Instant?: UnknownRecord }
    | undefined;
  const fromMs = temporal?.Instant?.['fromEpochMilliseconds'] as ((ms: number) => UnknownRecord) | undefined;
  if (!temporal?.Now || !fromMs) return;
  const instant = (): UnknownRecord => fromMs(NOW_MS);
  const zoned = (): UnknownRecord =>
    (instant()['toZonedDateTimeISO'] as (zone: string) => UnknownRecord).call(instant(), 'UTC');
  const part = (name: string) => (): unknown => (zoned()[name] as () => unknown).call(zoned());
  Object.assign(temporal.Now, {
    instant,
    timeZoneId: () => 'UTC',
    zonedDateTimeISO: zoned,
    plainDateTimeISO: part('toPlainDateTime'),
    plainDateISO: part('toPlainDate'),
    plainTimeISO: part('toPlainTime'),
  });
}

type Format = (date?: unknown) => unknown;

/** Fixes the time of the formatters that format the current time when they get no argument. */
function fixDateTimeFormat(): void {
  const { prototype } = Intl.DateTimeFormat;
  const format = Object.getOwnPropertyDescriptor(prototype, 'format');
  const toParts = Object.getOwnPropertyDescriptor(prototype, 'formatToParts') ?? {};
  Object.defineProperty(prototype, 'format', {
    get(this: unknown) {
      const native = format?.get?.call(this) as Format;
      return (date?: unknown) => native(dateOrNow(date));
    },
  });
  Object.defineProperty(prototype, 'formatToParts', {
    value(this: unknown, date?: unknown) {
      return (toParts.value as Format).call(this, dateOrNow(date));
    },
  });
}

function dateOrNow(date: unknown): unknown {
  return date === undefined ? NOW_MS : date;
}

function fixCrypto(random: () => number): void {
  const fill = <T extends ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = Math.floor(random() * 256);
    return view;
  };
  const uuid = (): string => {
    const hex = Buffer.from(fill(new Uint8Array(16))).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const between = (low: number, high?: number): number =>
    high === undefined ? Math.floor(random() * low) : low + Math.floor(random() * (high - low));
  const replaced = {
    randomBytes: (size: number) => fill(Buffer.alloc(size)),
    randomFillSync: fill,
    randomUUID: uuid,
    randomUUIDv7: uuid,
    randomInt: between,
  };
  for (const [name, value] of Object.entries(replaced)) Object.defineProperty(crypto, name, { value });
  for (const [name, value] of Object.entries({ getRandomValues: fill, randomUUID: uuid })) {
    Object.defineProperty(globalThis.crypto, name, { value });
  }
}

function fixProcess(): void {
  const hrtime = Object.assign(() => [0, 0], { bigint: () => 0n });
  const usage = { user: 0, system: 0 };
  const memory = { rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 };
  const replaced = {
    hrtime,
    uptime: () => 0,
    cpuUsage: () => usage,
    threadCpuUsage: () => usage,
    resourceUsage: () => ({}),
    memoryUsage: Object.assign(() => memory, { rss: () => 0 }),
    availableMemory: () => 0,
    constrainedMemory: () => 0,
    getuid: () => 0,
    geteuid: () => 0,
    getgid: () => 0,
    getegid: () => 0,
    getgroups: () => [],
    pid: 1,
    ppid: 0,
    // A person plans on another system than the hub runs on.
    platform: 'linux',
    arch: 'x64',
    // These contain folders of this machine, or how it started the render.
    title: 'node',
    argv: ['node', 'render'],
    execPath: 'node',
    execArgv: [],
  };
  for (const [name, value] of Object.entries(replaced)) Object.defineProperty(process, name, { value });
  Object.defineProperty(navigator, 'hardwareConcurrency', { value: 1 });
}

function fixHost(): void {
  Object.assign(os, {
    hostname: () => 'kubenode',
    userInfo: () => ({ username: 'kubenode', uid: -1, gid: -1, shell: null, homedir: '/' }),
    homedir: () => '/',
    networkInterfaces: () => ({}),
    loadavg: () => [0, 0, 0],
    uptime: () => 0,
    freemem: () => 0,
    totalmem: () => 0,
    cpus: () => [],
    availableParallelism: () => 1,
    machine: () => '',
    platform: () => 'linux',
    type: () => 'Linux',
    arch: () => 'x64',
    getPriority: () => 0,
    release: () => '',
    version: () => '',
  });
}

/** A small, good generator that gives the same numbers on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
