/**
 * Distributes the audit record of one writer over numbered ConfigMaps: lines are appended to the newest part, and a full part is never
 * written again. Pure.
 */

/**
 * Each append sends the newest part again, so a part is small; each part is an object of its own in etcd, so it is not smaller. See
 * docs/decisions/0150-audit-record.md.
 */
export const MAX_PART_BYTES = 128 * 1024;

/** The writers, and how many parts of each are kept: 32 MiB of acts, and 16 MiB of objects in a cluster and in a hub. */
export const KEPT_PARTS: Readonly<Record<AuditWriter, number>> = { defender: 256, sync: 128, hub: 128 };

export const AUDIT_WRITERS = ['defender', 'sync', 'hub'] as const;

export type AuditWriter = (typeof AUDIT_WRITERS)[number];

export const PART_PREFIX = 'record-';

/** Returns the name of the ConfigMap that names the newest part. */
export function headName(writer: AuditWriter): string {
  return `${PART_PREFIX}${writer}`;
}

const DIGITS = 6;

export function partName(writer: AuditWriter, number: number): string {
  return `${headName(writer)}-${String(number).padStart(DIGITS, '0')}`;
}

const PART_NAME = new RegExp(`^${PART_PREFIX}(?<writer>[a-z]+)-(?<number>\\d{${DIGITS},})$`);

export interface PartId {
  readonly writer: AuditWriter;
  readonly number: number;
}

/** Returns undefined for every other ConfigMap. */
export function parsePartName(name: string): PartId | undefined {
  const { writer = '', number = '' } = PART_NAME.exec(name)?.groups ?? {};
  return isWriter(writer) ? { writer, number: Number(number) } : undefined;
}

function isWriter(name: string): name is AuditWriter {
  return Object.hasOwn(KEPT_PARTS, name);
}

export interface PartText {
  readonly number: number;
  readonly text: string;
}

/**
 * Returns the parts to write, in this order. Lines that the newest part has already are left out: they are repeated after a write whose
 * answer was lost.
 */
export function planAppend({ number, text }: PartText, lines: readonly string[]): readonly PartText[] {
  const present = new Set(text.split('\n'));
  const added = lines.filter((line) => !present.has(line.slice(0, -1)));
  const parts: PartText[] = [];
  let current = { number, text: endedLine(text) };
  let bytes = Buffer.byteLength(current.text);
  let isChanged = false;
  for (const line of added) {
    const size = Buffer.byteLength(line);
    if (bytes > 0 && bytes + size > MAX_PART_BYTES) {
      if (isChanged) parts.push(current);
      current = { number: current.number + 1, text: '' };
      bytes = 0;
    }
    current = { number: current.number, text: current.text + line };
    bytes += size;
    isChanged = true;
  }
  return isChanged ? [...parts, current] : [];
}

/** A person's hand may have removed the last line break: the next line must not continue that one. */
function endedLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Finds the parts that are missing between those that exist: somebody deleted them. The oldest ones end by themselves. */
export function missingParts(numbers: readonly number[], newest: number | undefined): readonly number[] {
  const sorted = numbers.toSorted((a, b) => a - b);
  const last = Math.max(newest ?? 0, sorted.at(-1) ?? 0);
  const first = sorted[0] ?? last;
  const present = new Set(numbers);
  const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return all.filter((number) => number > 0 && !present.has(number));
}
