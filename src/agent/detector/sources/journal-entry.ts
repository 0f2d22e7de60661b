/** Entries of the journal as journalctl prints them with --output=json. Pure. */
import { isRecord } from '../../../kube/objects/json.ts';
import type { LogLine } from '../match/log-buffer.ts';

export interface JournalEntry {
  readonly line: LogLine;
  readonly cursor: string;
}

/** Parses an entry of the journal. Undefined for what is not one. */
export function parseJournalEntry(text: string): JournalEntry | undefined {
  const value = parsed(text);
  if (!isRecord(value)) return undefined;
  const { __CURSOR: cursor, __REALTIME_TIMESTAMP: microseconds, MESSAGE: message } = value;
  if (typeof cursor !== 'string' || typeof microseconds !== 'string') return undefined;
  const time = new Date(Number(microseconds) / 1000);
  return { cursor, line: { time, message: messageText(message).trim() } };
}

/** Bytes that are not printable text are printed as numbers, and a field that is there twice as a list. */
function messageText(message: unknown): string {
  if (typeof message === 'string') return message;
  if (!Array.isArray(message)) return '';
  const [first] = message as readonly unknown[];
  if (typeof first === 'number') return Buffer.from(message as readonly number[]).toString('utf8');
  return messageText(first);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
