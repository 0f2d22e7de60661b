/** One batch against the ledger: read, decide, write; again from the start when the write failed or may have failed. */

import type { DefenderLedger, DefenderLedgerSpec } from '../../api/generated/types.ts';
import type { Denial, DenialCause } from '../../api/grants.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { timeOfServer } from '../guards/view/self-doubt.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import { type LedgerPlanInput, planLedger } from './plan.ts';
import { type LiveGrant, planRecovery } from './recover.ts';
import type { LedgerAnswer, LedgerRequest } from './requests.ts';
import type { LedgerStore } from './store.ts';

export interface AttemptOptions {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly policies: () => PreparedPolicies;
  readonly facts: () => FleetFacts;
  /** Grants that live objects carry; undefined: not all of them could be read. */
  readonly liveGrants: () => readonly LiveGrant[] | undefined;
  /** The leader takes over with a new epoch; a process that only answers requests does not. */
  readonly leads?: () => boolean;
  /** For reports: the causes of every denial, and in mode Audit those of what would have been denied. */
  readonly denied?: (causes: readonly DenialCause[]) => void;
  readonly without?: ReadonlySet<string>;
}

export interface LedgerAttempts {
  /** The answers, or the denial of the whole batch. */
  run(requests: readonly LedgerRequest[]): Promise<readonly LedgerAnswer[] | Denial>;
  readonly conflicts: number;
}

interface Observed {
  readonly now: Date;
  readonly live: readonly LiveGrant[];
}

const MAX_ATTEMPTS = 5;
/** Enough for a write that is on its way to arrive. */
const RETRY_MS = 50;

export function createLedgerAttempts(options: AttemptOptions): LedgerAttempts {
  const { store, clock, log, leads = isNeverLeading, denied } = options;
  let epoch: number | undefined;
  let conflicts = 0;

  return {
    run,
    get conflicts() {
      return conflicts;
    },
  };

  async function run(requests: readonly LedgerRequest[]): Promise<readonly LedgerAnswer[] | Denial> {
    let last: Denial = denial('LedgerUnavailable', 'the ledger was not read');
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      // oxlint-disable no-await-in-loop -- each attempt starts from what the one before found
      if (attempt > 1) await clock.sleep(RETRY_MS * (attempt - 1));
      try {
        return await once(requests);
      } catch (error) {
        last = failureOf(error);
        if (last.reason === 'LedgerConflict') conflicts += 1;
        if (isExpected(last, attempt)) log.debug('ledger changed meanwhile: decided again', { attempt });
        else log.warn('ledger write failed', { attempt, reason: last.reason, error });
      }
      // oxlint-enable no-await-in-loop
    }
    return last;
  }

  /** An uncertain write is not repeated: what it wrote is read, and a repeated ask finds its grant. */
  async function once(requests: readonly LedgerRequest[]): Promise<readonly LedgerAnswer[] | Denial> {
    const found = await store.read();
    const live = options.liveGrants();
    if (!live) return UNREAD;
    const now = timeOfServer(clock.now(), options.facts().view);
    const spec = found?.spec;
    const recovery = planRecovery(spec, live, now);
    if (requests.every(isDryRun)) return decideOnly(recovery ? recovery.spec : spec, requests, now);
    if (recovery) {
      log.error('ledger recovery begins', { because: recovery.because });
      await store.write(found, recovery.spec);
      throw new LedgerRebuilt(recovery.because);
    }
    return found ? await decideUnderEpoch(found, requests, { now, live }) : MISSING;
  }

  async function decideUnderEpoch(
    found: DefenderLedger,
    requests: readonly LedgerRequest[],
    observed: Observed,
  ): Promise<readonly LedgerAnswer[] | Denial> {
    if (leads() && epoch !== undefined && found.spec.epoch > epoch) {
      return denial('LedgerUnavailable', `another Defender leads, with epoch ${found.spec.epoch}`);
    }
    return await decide(found, requests, observed);
  }

  async function decide(
    found: DefenderLedger,
    requests: readonly LedgerRequest[],
    { now, live }: Observed,
  ): Promise<readonly LedgerAnswer[]> {
    const isLeading = leads();
    const inWork = new Set(live.flatMap(({ entry, isInWork }) => (isInWork ? entry.id : [])));
    const input = { ...planInput(found.spec, now, isLeading), inWork };
    const { next, answers, causes } = planLedger(input, requests);
    if (next) await store.write(found, next);
    if (isLeading) epoch = next?.epoch ?? epoch;
    denied?.(causes);
    return answers;
  }

  /** Writes nothing, not even a recovery that is due: it answers as the rebuilt ledger would. */
  function decideOnly(
    ledger: DefenderLedgerSpec | undefined,
    requests: readonly LedgerRequest[],
    now: Date,
  ): readonly LedgerAnswer[] | Denial {
    return ledger ? planLedger(planInput(ledger, now, false), requests).answers : MISSING;
  }

  function planInput(ledger: DefenderLedgerSpec, now: Date, isLeading: boolean): LedgerPlanInput {
    const { policies, facts, without } = options;
    const own = isLeading && epoch === undefined ? ledger.epoch + 1 : ledger.epoch;
    return { ledger, policies: policies(), facts: facts(), now, epoch: own, ...(without ? { without } : {}) };
  }
}

function isDryRun(request: LedgerRequest): boolean {
  return request.kind === 'ask' && request.dryRun === true;
}

function isNeverLeading(): boolean {
  return false;
}

/** Replicas and reports of its status write the ledger, too: one of them came first. */
function isExpected({ reason }: Denial, attempt: number): boolean {
  return reason === 'LedgerConflict' && attempt < MAX_ATTEMPTS;
}

/** The batch is decided again, with the rebuilt ledger. */
class LedgerRebuilt extends Error {
  override readonly name = 'LedgerRebuilt';
}

function failureOf(error: unknown): Denial {
  const message = messageOf(error);
  if (isKubeError(error, 'Conflict', 'AlreadyExists')) {
    return denial('LedgerConflict', `the ledger changed while it was written: ${message}`);
  }
  return denial('LedgerUnavailable', message);
}

const MISSING = denial('LedgerUnavailable', 'the ledger is missing');
const UNREAD = denial('LedgerUnavailable', 'not all objects with grants were read');

export function denial(reason: 'LedgerConflict' | 'LedgerUnavailable', message: string): Denial {
  return { granted: false, reason, message, also: [] };
}
