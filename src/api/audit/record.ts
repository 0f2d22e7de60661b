/**
 * Appends lines to the audit record of one writer, in ConfigMaps in the namespace kubenode-audit. Every write is a compare-and-swap, so
 * two processes lose no line of each other, and a repeated append adds no line twice.
 */
import { isKubeError } from '../../kube/client/errors.ts';
import { type AuditLine, type ParsedLines, parseLines, serializeLine } from './lines.ts';
import { type AuditPart, createPartStore, type PartStoreOptions } from './part-store.ts';
import { KEPT_PARTS, planAppend } from './parts.ts';

export interface AuditRecord {
  /** Appends lines, which are durable when it resolves. Rejects with NotFound or Forbidden where this version of kubenode is not installed. */
  append(lines: readonly AuditLine[]): Promise<void>;
  /** Returns the lines of the newest parts: those that a former process wrote last. */
  latest(): Promise<ParsedLines>;
}

/** A conflict means that another process appended first. */
const ATTEMPTS = 4;
/**
 * The head is written once for the parts of an append, and so often in a large one: a process that ends in between leaves a head whose
 * part is not deleted yet, and from there the newest one is found.
 */
const HEAD_EVERY = 16;
/** A part that could not be deleted is tried again with the next ones. */
const DELETED_TOGETHER = 3;

export function createAuditRecord(options: PartStoreOptions): AuditRecord {
  const parts = createPartStore(options);
  let newest: AuditPart | undefined;

  return {
    async append(lines) {
      const texts = lines.map(serializeLine);
      for (let attempt = 1; texts.length > 0; attempt += 1) {
        try {
          await write(texts);
          return;
        } catch (error) {
          newest = undefined;
          if (attempt >= ATTEMPTS || !isKubeError(error, 'Conflict', 'AlreadyExists')) throw error;
        }
      }
    },
    async latest() {
      newest = await readNewest();
      const { number, text } = newest;
      const before = number > 1 ? await parts.read(number - 1) : undefined;
      return parseLines(`${before?.text ?? ''}${text}`);
    },
  };

  async function write(texts: readonly string[]): Promise<void> {
    let last = newest ?? (await readNewest());
    let isStarted = false;
    for (const part of planAppend(last, texts)) {
      const before = part.number === last.number ? last.object : undefined;
      last = await parts.write(part, before);
      newest = last;
      if (before !== undefined) continue;
      isStarted = true;
      if (part.number % HEAD_EVERY === 0) await parts.writeNewestNumber(part.number);
      await deleteOld(part.number);
    }
    if (isStarted) await parts.writeNewestNumber(last.number);
  }

  /** The head may name a part before the newest one: a process ended before it wrote the head. */
  async function readNewest(): Promise<AuditPart> {
    let part = await parts.read(await parts.newestNumber());
    while (part.object !== undefined) {
      const next = await parts.read(part.number + 1);
      if (next.object === undefined) return part;
      part = next;
    }
    return part;
  }

  /** Deletes the parts that are too old once this one is started. */
  async function deleteOld(number: number): Promise<void> {
    const last = number - KEPT_PARTS[options.writer];
    for (let old = Math.max(1, last - DELETED_TOGETHER + 1); old <= last; old += 1) await parts.delete(old);
  }
}
