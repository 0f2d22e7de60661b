/** Explains machines to pages on demand, and reads their Events. */
import { messageOf } from '../../os/errors.ts';
import type { MachineAnswer, MachineEventsView } from '../../views/machine/detail.ts';
import { createPageReads, type PageReads, type PageReadsOptions, TooManyReads } from './page-reads.ts';
import { createTurns, type Turns } from './turns.ts';

/** Rejects with why the machine cannot be explained. */
export type ExplainMachine = (cluster: string, name: string, signal: AbortSignal) => Promise<string>;
/** Never rejects. */
export type ReadEvents = (cluster: string, name: string, signal: AbortSignal) => Promise<MachineEventsView>;

/** An explanation reads the whole cluster, as the command does: 2 s and 100 MiB with 10,000 machines. */
const EXPLAINED = { atOnce: 2, maxWaiting: 8 };
/** A few short lists each. */
const LISTED = { atOnce: 8, maxWaiting: 32 };
const EXPLAIN_TIMEOUT_MS = 30_000;
const EVENTS_TIMEOUT_MS = 15_000;

type ReaderParts = Pick<PageReadsOptions<never>, 'clock' | 'turns' | 'isShown' | 'signal'>;

/** The turns of all explainers of a console. */
export function createExplainTurns(): Turns {
  return createTurns(EXPLAINED);
}

/** The turns of all readers of Events of a console. */
export function createEventsTurns(): Turns {
  return createTurns(LISTED);
}

export interface ExplainerOptions extends ReaderParts {
  readonly explain: ExplainMachine;
}

export function createExplainer({ explain, ...parts }: ExplainerOptions): PageReads<MachineAnswer> {
  const { clock } = parts;
  return createPageReads<MachineAnswer>({
    ...parts,
    timeoutMs: EXPLAIN_TIMEOUT_MS,
    read: async (cluster, name, signal) => ({
      text: await explain(cluster, name, signal),
      at: clock.now().toISOString(),
    }),
    failed: (error) => ({ problem: problemOf(error, 'too many machines are explained at the moment') }),
  });
}

export interface EventsReaderOptions extends ReaderParts {
  readonly read: ReadEvents;
}

export function createEventsReader({ read, ...parts }: EventsReaderOptions): PageReads<MachineEventsView> {
  return createPageReads<MachineEventsView>({
    ...parts,
    timeoutMs: EVENTS_TIMEOUT_MS,
    read,
    failed: (error) => ({
      events: [],
      problem: problemOf(error, 'the events of too many machines are read at the moment'),
    }),
  });
}

function problemOf(error: unknown, tooMany: string): string {
  return error instanceof TooManyReads ? `${tooMany}: try again in some seconds` : messageOf(error);
}
