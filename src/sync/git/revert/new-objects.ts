/** Creates git objects in memory: what a revert adds is pushed, and never written to the local repository. */
import { createHash } from 'node:crypto';
import type { NewObject, ObjectReader } from '../transport.ts';

export interface NewObjects {
  /** Adds an object. Returns its id. */
  add(type: NewObject['type'], content: Uint8Array): string;
  list(): readonly NewObject[];
  /** Returns a reader that finds the new objects, too. */
  over(reader: ObjectReader): ObjectReader;
}

export function createNewObjects(): NewObjects {
  const objects = new Map<string, NewObject>();
  return {
    add(type, content) {
      const header = `${type} ${content.byteLength}\0`;
      const oid = createHash('sha1').update(header).update(content).digest('hex');
      objects.set(oid, { type, content });
      return oid;
    },
    list: () => [...objects.values()],
    over: (reader) => ({ ...reader, read: async (oid) => objects.get(oid) ?? (await reader.read(oid)) }),
  };
}
