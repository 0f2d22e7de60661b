/**
 * Records acts on machines, and decisions of people, in the audit record. It follows every state of the ledger. What the ledger still
 * holds is compared with the record after a start, so a process that ends loses nothing that the ledger keeps.
 */
import type { AuditLine } from '../../api/audit/lines.ts';
import type { AuditRecord } from '../../api/audit/record.ts';
import type { DefenderLedger } from '../../api/generated/types.ts';
import { LEDGER } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { type AuditedLedger, ledgerLineKey, ledgerLines, NO_ENTRIES } from './acts.ts';

export interface ActRecorder {
  /** Appends what ended since the last time. Rejects when the record cannot be written: the lines are kept for the next time. */
  flush(): Promise<void>;
  /** Why the last append failed; undefined after one that did not. */
  readonly problem: string | undefined;
  /** How many lines are not in the record yet. */
  readonly waiting: number;
  /** How many lines were dropped because the record could not be written for long. */
  readonly dropped: number;
  close(): void;
}

export interface ActRecorderOptions {
  readonly ledgers: Store<DefenderLedger>;
  readonly record: AuditRecord;
  readonly clock: Clock;
  /** Only the leader records: other processes that watch the ledger would record the same. */
  readonly leads: () => boolean;
}

/** Each append sends the newest part of the record: a rollout with ten acts a second costs one such write in this time. */
const INTERVAL_MS = 5000;
/** 3 MB. The grants of 10,000 machines. */
const MAX_WAITING = 10_000;

export function createActRecorder({ ledgers, record, clock, leads }: ActRecorderOptions): ActRecorder {
  /** Waiting lines by their key. */
  const waiting = new Map<string, AuditLine>();
  let hasCompared = false;
  let flushedMs = Number.NEGATIVE_INFINITY;
  let dropped = 0;
  let problem: string | undefined;
  const unsubscribe = ledgers.subscribe({
    updated: ({ metadata, spec }, before) => {
      if (metadata.name === LEDGER && leads()) keep(before.spec, spec);
    },
    removed: ({ metadata, spec }) => {
      if (metadata.name === LEDGER && leads()) keep(spec, NO_ENTRIES);
    },
  });

  return {
    flush,
    get problem() {
      return problem;
    },
    get waiting() {
      return waiting.size;
    },
    get dropped() {
      return dropped;
    },
    close: unsubscribe,
  };

  function keep(before: AuditedLedger, after: AuditedLedger): void {
    for (const line of ledgerLines(before, after, clock.now())) {
      if (waiting.size < MAX_WAITING) waiting.set(ledgerLineKey(line), line);
      else dropped += 1;
    }
  }

  async function flush(): Promise<void> {
    if (!leads()) {
      hasCompared = false;
      return;
    }
    if (clock.monotonicMs() - flushedMs < INTERVAL_MS) return;
    flushedMs = clock.monotonicMs();
    try {
      await append();
      problem = undefined;
    } catch (error) {
      problem = messageOf(error);
      throw error;
    }
  }

  async function append(): Promise<void> {
    if (!hasCompared) await compare();
    const lines = [...waiting];
    if (lines.length === 0) return;
    await record.append(lines.map(([, line]) => line));
    for (const [key] of lines) waiting.delete(key);
  }

  /** Adds what the ledger holds and the newest parts of the record do not. */
  async function compare(): Promise<void> {
    const known = new Set((await record.latest()).lines.map(ledgerLineKey));
    const ledger = ledgers.get(LEDGER);
    if (!ledger) return;
    hasCompared = true;
    keep(NO_ENTRIES, ledger.spec);
    for (const key of known) waiting.delete(key);
  }
}
