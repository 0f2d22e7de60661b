/**
 * The port that holders ask. Requests that arrive within 50 ms are decided together and cost one write; the next batch waits
 * until this one is written. A grant is handed out only after the write that holds it succeeded.
 */
import type { LedgerApproval, LedgerClosure, LedgerGone } from '../../api/generated/types.ts';
import {
  type Allowance,
  type Denial,
  type Grant,
  type GrantPort,
  grantFromEntry,
  type RuleVersion,
} from '../../api/grants.ts';
import { type AttemptOptions, createLedgerAttempts } from './attempt.ts';
import type { LedgerAnswer, LedgerRequest } from './requests.ts';

export interface Ledger extends GrantPort {
  announceRules(versions: readonly RuleVersion[]): Promise<void>;
  /** Drops what has expired, and finishes a recovery. */
  sweep(): Promise<void>;
  recordDeleted(machine: string, deleted: LedgerGone): Promise<void>;
  /** Opens and half-opens breakers by what is observed. */
  reviewBreakers(): Promise<void>;
  /** Its trips are forgotten, and who closed it is recorded. */
  closeBreaker(id: string, closure: LedgerClosure): Promise<void>;
  /** Rejects with LedgerNotWritten, reason ApprovalRefused, when somebody else answered first. */
  recordApproval(machine: string, approval: LedgerApproval): Promise<void>;
  /** Writes that another write made void. */
  readonly conflicts: number;
}

/** A change of the ledger could not be written: try it again. */
export class LedgerNotWritten extends Error {
  override readonly name = 'LedgerNotWritten';
  readonly code = 'LedgerNotWritten';
  readonly denial: Denial;

  constructor(denial: Denial) {
    super(`ledger not written: ${denial.reason}: ${denial.message}`);
    this.denial = denial;
  }
}

const COLLECT_MS = 50;
/** At most ten writes a second. */
const MIN_INTERVAL_MS = 100;

export interface LedgerOptions extends AttemptOptions {
  /** For reports: every request with its answer, denials of a ledger that could not be written included. */
  readonly decided?: (decided: DecidedRequest) => void;
}

export interface DecidedRequest {
  readonly request: LedgerRequest;
  readonly answer: LedgerAnswer;
  /** From the request to the answer. */
  readonly seconds: number;
}

interface Pending {
  readonly request: LedgerRequest;
  readonly sinceMs: number;
  readonly resolve: (answer: LedgerAnswer) => void;
}

export function createLedger(options: LedgerOptions): Ledger {
  const { clock, decided } = options;
  const attempts = createLedgerAttempts(options);
  let pending: Pending[] = [];
  let running = false;

  return {
    ask: async (asks) => (await submit(asks.map((ask) => ({ kind: 'ask', ask })))).map(grantOf),
    dryRun: async (asks) =>
      (await submit(asks.map((ask) => ({ kind: 'ask', ask, dryRun: true })))).map(allowanceOf),
    renew: async (renewals) =>
      (await submit(renewals.map((renewal) => ({ kind: 'renew', renewal })))).map(grantOf),
    settle: (settlements) => done(settlements.map((settlement) => ({ kind: 'settle', settlement }))),
    announceRules: (versions) => done(versions.map((version) => ({ kind: 'rule', version }))),
    sweep: () => done([{ kind: 'sweep' }]),
    recordDeleted: (machine, deleted) => done([{ kind: 'deleted', machine, deleted }]),
    reviewBreakers: () => done([{ kind: 'reviewBreakers' }]),
    closeBreaker: (id, closure) => done([{ kind: 'closeBreaker', id, closure }]),
    recordApproval: (machine, approval) => done([{ kind: 'approval', machine, approval }]),
    get conflicts() {
      return attempts.conflicts;
    },
  };

  async function done(requests: readonly LedgerRequest[]): Promise<void> {
    const failed = (await submit(requests)).find((answer) => answer.kind === 'denial');
    if (failed) throw new LedgerNotWritten(failed.denial);
  }

  async function submit(requests: readonly LedgerRequest[]): Promise<readonly LedgerAnswer[]> {
    const answers = requests.map((request) => {
      const { promise, resolve } = Promise.withResolvers<LedgerAnswer>();
      pending.push({ request, sinceMs: clock.monotonicMs(), resolve });
      return promise;
    });
    if (!running) void work();
    return await Promise.all(answers);
  }

  async function work(): Promise<void> {
    running = true;
    while (pending.length > 0) {
      // oxlint-disable no-await-in-loop -- one batch after the other
      await clock.sleep(COLLECT_MS);
      const batch = pending;
      pending = [];
      await decideBatch(batch);
      await clock.sleep(MIN_INTERVAL_MS - COLLECT_MS);
      // oxlint-enable no-await-in-loop
    }
    running = false;
  }

  async function decideBatch(batch: readonly Pending[]): Promise<void> {
    const result = await attempts.run(batch.map(({ request }) => request));
    for (const [index, { request, sinceMs, resolve }] of batch.entries()) {
      const answer: LedgerAnswer =
        'granted' in result
          ? { kind: 'denial', denial: result }
          : (result[index] ?? { kind: 'denial', denial: MISSING });
      decided?.({ request, answer, seconds: (clock.monotonicMs() - sinceMs) / 1000 });
      resolve(answer);
    }
  }
}

const MISSING: Denial = {
  granted: false,
  reason: 'LedgerUnavailable',
  message: 'the batch has no answer',
  also: [],
};

function grantOf(answer: LedgerAnswer): Grant | Denial {
  if (answer.kind === 'entry') return grantFromEntry(answer.machine, answer.entry);
  return answer.kind === 'denial' ? answer.denial : MISSING;
}

function allowanceOf(answer: LedgerAnswer): Allowance | Denial {
  if (answer.kind === 'allowance') return answer.allowance;
  return answer.kind === 'denial' ? answer.denial : MISSING;
}
