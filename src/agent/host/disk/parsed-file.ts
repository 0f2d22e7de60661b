/**
 * A small file of the system or of the agent itself that is asked for all the time: read and parsed again only after it changed.
 * The kernel has its metadata in memory: to hand the question to a thread would cost many times as much.
 */
import { statSync } from 'node:fs';
import { systemCode } from '../../../os/errors.ts';
import { readFileIfExists, toDiskError } from '../../../os/files.ts';

/** A missing file is parsed as an empty one. */
export function createParsedFile<T>(file: string, parse: (text: string) => T): () => Promise<T> {
  let known: { readonly revision: string; readonly value: T } | undefined;
  return async () => {
    // Before the content: what changes in between is read again by the next call.
    const revision = revisionOf(file);
    if (known?.revision === revision) return known.value;
    const value = parse((await readFileIfExists(file)) ?? '');
    known = { revision, value };
    return value;
  };
}

function revisionOf(file: string): string {
  try {
    const { dev, ino, size, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, ctimeNs].join('-');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'missing';
    throw toDiskError(error, file);
  }
}
