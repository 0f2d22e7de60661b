/** Copies artifacts to a mirror, one after the other. What fails is reported, and keeps no other one from being copied. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadTo } from '../../../agent/host/download/download.ts';
import { RetryLater } from '../../../agent/host/errors.ts';
import { planRetry } from '../../../agent/install/pace.ts';
import { messageOf, OsError } from '../../../os/errors.ts';
import { sha256OfFile } from '../../../os/files.ts';
import type { Io } from '../../io.ts';
import type { MirrorEntry } from './plan.ts';
import type { MirrorTarget } from './target.ts';

export interface MirroredEntry extends MirrorEntry {
  readonly state: 'Present' | 'Missing' | 'Copied' | 'Failed';
  /** The reason of a failure. */
  readonly because?: string;
  readonly code?: string;
}

export interface CopySettings {
  readonly dryRun: boolean;
  readonly registriesFile: string | undefined;
  readonly random: () => number;
  readonly onStep: (step: string) => void;
}

/** The limit for an artifact without a declared size, as that of the agents. */
const MAX_BYTES = 4 * 1024 ** 3;
const TIMEOUT_MS = 6 * 3_600_000;

export async function copyToMirror(
  io: Io,
  entries: readonly MirrorEntry[],
  target: MirrorTarget,
  settings: CopySettings,
): Promise<readonly MirroredEntry[]> {
  const mirrored: MirroredEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    settings.onStep(`${entry.usedBy[0]} (${index + 1} of ${entries.length})`);
    mirrored.push(await copyOne(io, entry, target, settings));
  }
  return mirrored;
}

async function copyOne(
  io: Io,
  entry: MirrorEntry,
  target: MirrorTarget,
  settings: CopySettings,
): Promise<MirroredEntry> {
  try {
    if (await target.has(entry.sha256)) return { ...entry, state: 'Present' };
    if (settings.dryRun) return { ...entry, state: 'Missing' };
    const file = await load(io, entry, join(target.partialFolder, entry.sha256), settings);
    await target.put(entry.sha256, file);
    return { ...entry, state: 'Copied' };
  } catch (error) {
    io.signal.throwIfAborted();
    // A full disk fails every other one, too.
    if (!(error instanceof Error) || (error instanceof OsError && error.code === 'DiskFull')) throw error;
    const code = error instanceof OsError ? (error as OsError<string>).code : 'Download';
    return { ...entry, state: 'Failed', because: messageOf(error), code };
  }
}

/** Tries each URL. Returns the file, whose digest was verified. */
async function load(io: Io, entry: MirrorEntry, to: string, settings: CopySettings): Promise<string> {
  const { sha256, urls } = entry;
  const failures: Error[] = [];
  for (const url of urls) {
    try {
      await loadWithRetries(io, { ...entry, url, to }, settings);
      await verify(to, sha256, url);
      return to;
    } catch (error) {
      io.signal.throwIfAborted();
      if (!(error instanceof OsError) || error.code === 'DiskFull') throw error;
      failures.push(error);
    }
  }
  if (failures.length === 1 && failures[0]) throw failures[0];
  throw new OsError('Download', failures.map(messageOf).join('; '));
}

async function loadWithRetries(
  io: Io,
  { url, to, ...entry }: MirrorEntry & { readonly url: string; readonly to: string },
  { registriesFile, random, onStep }: CopySettings,
): Promise<void> {
  const { sha256, sizeBytes: maxBytes = MAX_BYTES } = entry;
  const { clock, signal } = io;
  const machine = { clock, registriesFile, ...platformOf(entry) };
  for (let [failures, askedMs] = [0, 0]; ; ) {
    try {
      return await downloadTo(url, to, { maxBytes, sha256, signal, timeoutMs: TIMEOUT_MS }, machine);
    } catch (error) {
      if (!(error instanceof RetryLater)) throw error;
      const { retryAfterMs } = error;
      failures = retryAfterMs === undefined ? failures + 1 : 0;
      const plan = planRetry({ failures, retryAfterMs, askedMs, random: random() });
      if (plan.type !== 'Retry') throw error;
      askedMs += retryAfterMs ?? 0;
      onStep(`${entry.usedBy[0]}: ${plan.because}, again in ${Math.ceil(plan.delayMs / 1000)} s`);
      await clock.sleep(plan.delayMs, signal);
    }
  }
}

function platformOf({ platform: { os, arch } }: MirrorEntry): { platform?: MirrorEntry['platform'] } {
  return os === 'any' || arch === 'any' ? {} : { platform: { os, arch } };
}

async function verify(file: string, sha256: string, url: string): Promise<void> {
  const found = await sha256OfFile(file);
  if (found === sha256) return;
  await rm(file);
  throw new OsError('Checksum', `wrong checksum of ${url}: expected sha256 ${sha256}, got ${found}`);
}
