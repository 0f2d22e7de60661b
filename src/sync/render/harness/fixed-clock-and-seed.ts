/**
 * A clock that stands still and dice that always fall the same. What is missed here is found by the second render,
 * which must give the same bytes; these make that the exception.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

/** Not the commit's own time: a commit that changes nothing must not change a digest. */
const NOW_MS = Date.UTC(2000, 0, 1);
const SEED = 0x6b75_6265;

type Loose = Record<string, unknown>;

export function fixClockAndSeed(): void {
  const random = mulberry32(SEED);
  fixDate();
  fixTemporal();
  Object.defineProperty(Math, 'random', { value: random });
  fixCrypto(random);
  fixProcess();
  fixHost();
  syncBuiltinESMExports();
}

function fixDate(): void {
  const Real = Date;
  function Fixed(this: unknown, ...args: unknown[]): unknown {
    if (!new.target) return new Real(NOW_MS).toString();
    return Reflect.construct(Real, args.length === 0 ? [NOW_MS] : args, new.target);
  }
  Object.assign(Fixed, { UTC: Real.UTC, parse: Real.parse, now: () => NOW_MS });
  Object.defineProperty(Fixed, 'prototype', { value: Real.prototype });
  Object.defineProperty(Real.prototype, 'constructor', { value: Fixed });
  Object.defineProperty(globalThis, 'Date', { value: Fixed });
}

function fixTemporal(): void {
  const temporal = (globalThis as Loose)['Temporal'] as { Now?: Loose; Instant?: Loose } | undefined;
  const fromMs = temporal?.Instant?.['fromEpochMilliseconds'] as ((ms: number) => Loose) | undefined;
  if (!temporal?.Now || !fromMs) return;
  const instant = (): Loose => fromMs(NOW_MS);
  const zoned = (): Loose =>
    (instant()['toZonedDateTimeISO'] as (zone: string) => Loose).call(instant(), 'UTC');
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
  for (const [name, value] of Object.entries({ hrtime, uptime: (): number => 0, pid: 1, ppid: 0 })) {
    Object.defineProperty(process, name, { value });
  }
  Object.defineProperty(performance, 'now', { value: () => 0 });
  Object.defineProperty(performance, 'timeOrigin', { value: NOW_MS });
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
    release: () => '',
    version: () => '',
  });
}

/** A small generator of good quality, the same on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
