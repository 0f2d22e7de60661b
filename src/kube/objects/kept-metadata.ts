/** Makes the metadata of an object small that is kept in memory. Pure. */
import type { Metadata } from './object.ts';

/** What identifies an object, and its version. */
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion'] as const;

/** Returns the identity and the version of the object, and these fields of it: those that it has. */
export function keptMetadata(metadata: Metadata, ...fields: readonly (keyof Metadata)[]): Metadata {
  const kept = [...IDENTITY, ...fields].flatMap((field) =>
    metadata[field] === undefined ? [] : [[field, metadata[field]]],
  );
  return { ...Object.fromEntries(kept), name: metadata.name };
}
