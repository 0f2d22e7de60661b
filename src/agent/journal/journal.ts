/**
 * The journal on the host: one line a record, each with a checksum, synced before the act that it announces. A torn last
 * line is what a crash in the middle of a write leaves: that act was not begun.
 */
import { createHash } from 'node:crypto';
import type { HostFiles } from '../host/port.ts';
import { JOURNAL_FILE } from '../layout.ts';
import { applyRecord, EMPTY_JOURNAL, type JournalState, recordsOf } from './progress.ts';
import type { JournalRecord } from './record.ts';

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };
/** About 20 rollouts of 32 components. Reading them takes milliseconds. */
const COMPACT_ABOVE = 5000;

export interface Journal {
  state(): JournalState;
  /** Durable when it resolves. */
  append(record: JournalRecord): Promise<void>;
  /** Lines that could not be read at the start, without the torn last one. */
  readonly damagedLines: number;
}

export async function openJournal(files: Pick<HostFiles, 'read' | 'write' | 'append'>): Promise<Journal> {
  const { records, damaged, torn } = parseJournal(new TextDecoder().decode(await files.read(JOURNAL_FILE)));
  let state = records.reduce(applyRecord, EMPTY_JOURNAL);
  let lines = records.length;

  async function compact(): Promise<void> {
    const kept = recordsOf(state);
    await files.write(JOURNAL_FILE, encode(kept), ATTRIBUTES);
    lines = kept.length;
  }

  // The next record must not be appended to half a line.
  if (torn || damaged > 0) await compact();
  return {
    damagedLines: damaged,
    state: () => state,
    async append(record) {
      if (lines >= COMPACT_ABOVE) await compact();
      await files.append(JOURNAL_FILE, encode([record]));
      state = applyRecord(state, record);
      lines += 1;
    },
  };
}

export interface ParsedJournal {
  readonly records: readonly JournalRecord[];
  /** Lines with a wrong checksum before the last one. */
  readonly damaged: number;
  readonly torn: boolean;
}

export function parseJournal(text: string): ParsedJournal {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  const records = lines.map(parseLine);
  // A crash may leave the last line complete in length and wrong in content.
  const isLastBad = rest === '' && records.length > 0 && records.at(-1) === undefined;
  const bad = records.filter((record) => record === undefined).length;
  return {
    records: records.filter((record) => record !== undefined),
    damaged: bad - Number(isLastBad),
    torn: rest !== '' || isLastBad,
  };
}

function parseLine(line: string): JournalRecord | undefined {
  const [checksum, json] = [line.slice(0, CHECKSUM_LENGTH), line.slice(CHECKSUM_LENGTH + 1)];
  return checksumOf(json) === checksum ? (JSON.parse(json) as JournalRecord) : undefined;
}

function encode(records: readonly JournalRecord[]): Uint8Array {
  const lines = records
    .map((record) => JSON.stringify(record))
    .map((json) => `${checksumOf(json)} ${json}\n`);
  return new TextEncoder().encode(lines.join(''));
}

const CHECKSUM_LENGTH = 16;

function checksumOf(json: string): string {
  return createHash('sha256').update(json).digest('hex').slice(0, CHECKSUM_LENGTH);
}
