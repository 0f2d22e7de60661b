/** Holds a term: renews it, ends it at its deadline when renewals fail, and releases it on request. */
import type { Clock } from '../../os/clock.ts';
import { isKubeError } from '../client/errors.ts';
import type { Log } from '../process/log.ts';
import { LEASES, readLeaseRecord, releasePatch, renewalPatch } from './record.ts';
import type { LeaseSettings } from './settings.ts';
import { createTerm, type Moment, readMoment, type Term, type TermEnd, type TermState } from './term.ts';

export interface HeldTerm extends Term {
  /** Ends the term without a request: the Lease names this holder until it is acquired again or expires. */
  end(because: TermEnd): void;
  /** Ends the term, then clears the holder so that others need not wait. Call it when all work is done. Never rejects. */
  release(): Promise<void>;
}

export interface AcquiredLease {
  readonly settings: LeaseSettings;
  readonly log: Log;
  readonly epoch: number;
  readonly sentAt: Moment;
}

// The shortest sleep in which the event loop reads responses that have already arrived.
const EVENT_LOOP_TURN_MS = 1;

export function holdTerm(acquired: AcquiredLease): HeldTerm {
  const { settings, log, epoch, sentAt } = acquired;
  const { clock, label, metrics } = settings;
  const term = createTerm({
    lease: label,
    epoch,
    clock,
    validMs: settings.renewDeadlineSeconds * 1000,
    sentAt,
  });
  const lease = createLeaseObject(acquired);
  metrics?.held(label, epoch);
  const renewing = renew();
  const watching = watchDeadline(term, clock, () => end('expired'));

  return {
    epoch,
    lost: term.lost,
    held: () => term.held(),
    fence: () => term.fence(),
    leftMs: () => term.leftMs(),
    end,
    release,
  };

  /** A renewal waits for no answer: an API server that takes seconds for each loses no term, and one hung connection does not either. */
  async function renew(): Promise<void> {
    const retryMs = settings.retrySeconds * 1000;
    let dueMs = sentAt.monotonicMs + retryMs;
    while (await slept(clock, dueMs - clock.monotonicMs(), term.lost)) {
      dueMs = clock.monotonicMs() + retryMs;
      void renewOnce();
    }
  }

  async function renewOnce(): Promise<void> {
    const sent = readMoment(clock);
    try {
      const answer = await lease.renew(term.lost);
      if (answer === 'renewed') term.renewed(sent);
      else end(answer);
    } catch (error) {
      if (!term.lost.aborted) log.warn('lease renewal failed', { error, leftMs: term.leftMs() });
    }
  }

  function end(because: TermEnd): void {
    if (term.lost.aborted) return;
    term.end(because);
    metrics?.held(label, undefined);
    metrics?.ended(label, because);
    if (because === 'released') log.info('lease released', { epoch });
    else log.error('lease lost', { epoch, because });
  }

  async function release(): Promise<void> {
    if (term.lost.aborted) return;
    end('released');
    await Promise.all([renewing, watching]);
    await lease.release().catch((error: unknown) => log.warn('lease release failed', { error }));
  }
}

/** The deadline moves with each renewal. When it is reached, responses that have already arrived are read first. */
async function watchDeadline(term: TermState, clock: Clock, onExpired: () => void): Promise<void> {
  for (let leftMs = term.leftMs(); leftMs > 0; leftMs = term.leftMs()) {
    if (!(await slept(clock, leftMs, term.lost))) return;
    if (term.leftMs() <= 0) await slept(clock, EVENT_LOOP_TURN_MS, term.lost);
  }
  onExpired();
}

interface LeaseObject {
  renew(signal: AbortSignal): Promise<'renewed' | 'taken' | 'deleted'>;
  release(): Promise<void>;
}

function createLeaseObject({ settings, epoch }: AcquiredLease): LeaseObject {
  const { client, clock, identity, leaseSeconds, name, timeoutMs, renewalTimeoutMs } = settings;
  return {
    renew: async (signal) => {
      const claim = { identity, epoch, leaseSeconds, now: clock.now() };
      try {
        await client.patch(LEASES, name, renewalPatch(claim), { timeoutMs: renewalTimeoutMs, signal });
        return 'renewed';
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return 'deleted';
        // So is a test that fails.
        if (!isKubeError(error, 'Invalid') || (await isHeld(signal))) throw error;
        return 'taken';
      }
    },
    release: async () => {
      const claim = { identity, epoch, now: clock.now() };
      await client.patch(LEASES, name, releasePatch(claim), { timeoutMs });
    },
  };

  async function isHeld(signal: AbortSignal): Promise<boolean> {
    const present = await client.get(LEASES, name, { timeoutMs: renewalTimeoutMs, signal });
    const record = readLeaseRecord(present);
    return record.holder === identity && record.epoch === epoch;
  }
}

/** False when the signal came first. */
async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(Math.max(0, ms), signal);
    return !signal.aborted;
  } catch {
    return false;
  }
}
