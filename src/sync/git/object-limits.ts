/**
 * Limits on what is read of a repository. A pack of a few megabytes can hold gigabytes of zeros, and a few nested trees can
 * expand to millions of files, so sizes and counts are checked before content is read.
 */
import { GitError, REWRITE_HINT } from './errors.ts';
import type { RawObject } from './transport.ts';

const MIB = 1024 * 1024;

/** The limits are far beyond any fleet repository. A tree of 16 MiB has some 400,000 entries. */
const MAX_BYTES: Readonly<Record<RawObject['type'], number>> = {
  commit: MIB,
  tag: MIB,
  tree: 16 * MIB,
  blob: 64 * MIB,
};

/** Limits one fetch over http, where every object of a pack is read to index it. */
export const PACK_LIMITS: PackLimits = { maxObjects: 1_000_000, maxBytes: 1024 * MIB };

export interface PackLimits {
  readonly maxObjects: number;
  /** The most bytes of all objects together, uncompressed. */
  readonly maxBytes: number;
}

/** Throws when an object of that type and size is not read. Call it before reading the content. */
export function checkObjectSize(what: string, type: RawObject['type'], bytes: number): void {
  const allowed = MAX_BYTES[type];
  if (bytes <= allowed) return;
  throw tooLarge(`${what}: a ${type} of ${bytes} bytes, more than ${allowed}`);
}

export function tooLarge(message: string): GitError {
  return new GitError('TooLarge', message, { hint: REWRITE_HINT });
}
