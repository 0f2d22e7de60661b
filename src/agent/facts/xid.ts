/** Reads the errors of GPUs that the driver of NVIDIA writes to the kernel log: `NVRM: Xid (PCI:0000:3b:00): 79, …`. Pure. */
import type { XidFact } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { parseJournalEntry } from '../detector/sources/journal-entry.ts';
import { type GpuResets, isBeforeReset } from './gpu-resets.ts';

export interface LoggedXid {
  readonly code: number;
  /** The address of the GPU, without its function: 0000:3b:00. */
  readonly address: string;
  readonly at: Date;
}

/** Older drivers write no `PCI:`, and a part of a GPU (MIG) follows the address. Lines of switches begin with another word. */
const LINE =
  /^NVRM: Xid \((?:PCI:)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-7])?(?:[ ,][^)]{0,64})?\): (\d{1,4}),/i;
/** The status of a Machine has room for so many. */
const MAX_XIDS = 32;
/** The most codes that the status names as cut. */
const MAX_CUT_CODES = 32;
/** The number of errors that are kept, and read at a time: a count beyond this changes no decision. */
export const MAX_KEPT = 1000;
/** The longest window that a rule counts in. */
export const XID_KEPT_MS = 7 * 86_400_000;

/** Writes an address of the bus as the kernel log does: 00000000:3B:00.0 is 0000:3b:00. */
export function normalizeAddress(bus: string): string {
  return bus
    .toLowerCase()
    .replace(/\.[0-7]$/, '')
    .replace(/^0+(?=[0-9a-f]{4,}:)/, '');
}

/** Reads the lines of `journalctl --output=json`, and passes over other lines. */
export function parseXids(output: string): readonly LoggedXid[] {
  return output.split('\n').flatMap((line) => parseEntry(line) ?? []);
}

function parseEntry(text: string): LoggedXid | undefined {
  const { message, time: at } = parseJournalEntry(text)?.line ?? {};
  const [, address, code] = LINE.exec(message ?? '') ?? [];
  if (!at || address === undefined || Number.isNaN(at.getTime())) return undefined;
  return { code: Number(code), address: normalizeAddress(address), at };
}

/** Returns the time of the oldest entry that `journalctl --list-boots --utc` names; undefined: it names none. */
export function parseOldestEntry(output: string): Date | undefined {
  const times = [...output.matchAll(/(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) UTC/g)];
  const dates = times.map(([, day, time]) => Date.parse(`${day}T${time}Z`)).filter(Number.isFinite);
  return dates.length > 0 ? new Date(Math.min(...dates)) : undefined;
}

export interface ReportedXids {
  readonly xid: readonly XidFact[];
  readonly xidSince: string;
  readonly xidCutCodes?: readonly number[];
  readonly xidOthersSince?: string;
}

export interface XidReport {
  readonly logged: readonly LoggedXid[];
  /** The times at which GPUs were reset, by address. */
  readonly resets: GpuResets;
  /** The addresses of the GPUs that the driver knows. */
  readonly gpus: readonly string[];
  /** The time since which the log is complete. */
  readonly since: Date;
  readonly now: Date;
}

/**
 * Returns the errors of the last week, newest first. When not all fit, those of the codes with the most errors are left out first, so that a
 * burst of one code hides no other one: the period ends before the first that is left out, and for the other codes it stays the whole.
 */
export function reportXids({ logged, resets, gpus, since, now }: XidReport): ReportedXids {
  const startMs = Math.max(since.getTime(), now.getTime() - XID_KEPT_MS);
  const known = gpus.map(normalizeAddress).toSorted(byCode);
  const missing = new Set(logged.map(({ address }) => address).filter((each) => !known.includes(each)));
  // The index of nvidia-smi is the place in the order of addresses. A GPU that the driver does not know any more follows the others.
  const addresses = [...known, ...[...missing].toSorted(byCode)];
  const recent = newestFirst(logged, startMs);
  const reported = lastOfEachCode(recent, MAX_XIDS);
  const xid = reported.map((error) => ({
    code: error.code,
    gpu: addresses.indexOf(error.address),
    at: error.at.toISOString(),
    ...(isBeforeReset(error, resets, now) ? { reset: true } : {}),
  }));
  const kept = new Set(reported);
  return {
    xid,
    ...coverage(
      recent.filter((each) => !kept.has(each)),
      startMs,
    ),
  };
}

/** Tells what the report covers. `omitted` is what it has no room for, newest first. */
function coverage(omitted: readonly LoggedXid[], startMs: number): Omit<ReportedXids, 'xid'> {
  const start = new Date(startMs).toISOString();
  const [newest] = omitted;
  if (!newest) return { xidSince: start };
  const xidSince = new Date(newest.at.getTime() + 1).toISOString();
  const cut = [...new Set(omitted.map(({ code }) => code))].toSorted((a, b) => a - b);
  return cut.length > MAX_CUT_CODES ? { xidSince } : { xidSince, xidCutCodes: cut, xidOthersSince: start };
}

/** Returns at most so many errors, newest first: the last one of each code, then the one before it, and so on. */
function lastOfEachCode(recent: readonly LoggedXid[], most: number): readonly LoggedXid[] {
  const counts = new Map<number, number>();
  const ranked = recent.map((error) => {
    const rank = counts.get(error.code) ?? 0;
    counts.set(error.code, rank + 1);
    return { error, rank };
  });
  const first = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, most);
  return newestFirst(
    first.map(({ error }) => error),
    Number.NEGATIVE_INFINITY,
  );
}

/** Returns what is known of the last week, newest first and each error once: the log is read again from a moment before. */
export function mergeXids(
  before: readonly LoggedXid[],
  read: readonly LoggedXid[],
  now: Date,
): readonly LoggedXid[] {
  const all = new Map([...before, ...read].map((each) => [keyOf(each), each]));
  const startMs = now.getTime() - XID_KEPT_MS;
  return lastOfEachCode(newestFirst([...all.values()], startMs), MAX_KEPT);
}

function newestFirst(logged: readonly LoggedXid[], startMs: number): readonly LoggedXid[] {
  return logged
    .filter(({ at }) => at.getTime() >= startMs)
    .toSorted((a, b) => b.at.getTime() - a.at.getTime());
}

function keyOf({ code, address, at }: LoggedXid): string {
  return `${at.getTime()} ${address} ${code}`;
}
