/**
 * Reads and computes the record of what a machine has of its bootstrap config: Cluster API gives an update only what is desired, and the config
 * has been overwritten by then. Without the record an update could not be distinguished from what a component set has changed on purpose.
 * The record is an annotation of the Machine of kubenode, and its one writer is the controller that follows. Pure.
 */
import { canonicalJson } from '../../../../../kube/objects/digest.ts';
import { isRecord, parseRecord, textAt } from '../../../../../kube/objects/json.ts';
import type { BootstrapFiles } from './kubeadm-files.ts';

/** The first digits of the digest of each file by its path, or UNKNOWN. */
export type FileDigests = Readonly<Record<string, string>>;

export interface BootstrapRecord {
  /** Unknown while an update is under way. */
  readonly version: string;
  readonly files: FileDigests;
}

/** Describes what Cluster API has for a machine. */
export interface BootstrapState {
  readonly version: string;
  readonly files: FileDigests;
  /** It is being updated: it asks for this, and may not have it. */
  readonly isUpdating: boolean;
}

const UNKNOWN = '';
const DIGITS = 16;
/** A Machine must not be larger than 64 KiB. A machine with more files is left to Cluster API. */
const MAX_RECORD = 16_384;

export function readBootstrapRecord(text: string | undefined): BootstrapRecord | undefined {
  const found = text === undefined ? undefined : parseRecord(text);
  const version = textAt(found, 'version');
  const files = found?.['files'];
  if (version === undefined || !isRecord(files)) return undefined;
  const known = Object.entries(files).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { version, files: Object.fromEntries(known) };
}

/** Returns the record after `before`; undefined: there is none, because the state before an update was not observed or is too large. */
export function nextRecord(before: string | undefined, state: BootstrapState): string | undefined {
  const { version, files, isUpdating } = state;
  const now = { version, files };
  const next = isUpdating ? whileUpdating(readBootstrapRecord(before), now) : now;
  const text = next && canonicalJson(next);
  return text === undefined || text.length > MAX_RECORD ? undefined : text;
}

/** Marks what the update changes as unknown until it has ended: it may be taken back on the way. */
function whileUpdating(
  before: BootstrapRecord | undefined,
  now: BootstrapRecord,
): BootstrapRecord | undefined {
  if (!before) return undefined;
  const changed = changedPaths(before, now.files).map((path) => [path, UNKNOWN] as const);
  const version = before.version === now.version ? before.version : UNKNOWN;
  const unknown: FileDigests = Object.fromEntries(changed);
  return { version, files: { ...before.files, ...unknown } };
}

export function fileDigests(files: BootstrapFiles): FileDigests {
  return Object.fromEntries(
    [...files].map(([path, { digest }]) => [path, digest.replace(/^sha256:/, '').slice(0, DIGITS)]),
  );
}

/** Returns the paths of files that were added, changed or removed, in order. */
export function changedPaths(
  { files: before }: Pick<BootstrapRecord, 'files'>,
  after: FileDigests,
): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  const valueIn = (files: FileDigests, path: string): string | undefined =>
    Object.hasOwn(files, path) ? files[path] : undefined;
  return [...paths].filter((path) => valueIn(before, path) !== valueIn(after, path)).toSorted();
}
