/** Holds a term: renews it, ends it at its deadline when renewals fail, and releases it on request. */
import type { Clock } from '../../os/clock.ts';
import { isKubeError } from '../client/errors.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import { LEASES, readLeaseRecord, withClaim, withoutHolder } from './record.ts';
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
  /** As returned by the server. */
  readonly object: KubeObject;
  readonly epoch: number;
  readonly acquiredAt: Date;
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
  metrics?.held(label, true);
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

  async function renew(): Promise<void> {
    const retryMs = settings.retrySeconds * 1000;
    let dueMs = sentAt.monotonicMs + retryMs;
    while (await slept(clock, dueMs - clock.monotonicMs(), term.lost)) {
      dueMs = clock.monotonicMs() + retryMs;
      try {
        const sent = readMoment(clock);
        const answer = await lease.renew();
        if (answer === 'renewed') term.renewed(sent);
        else if (answer === 'changed') dueMs = clock.monotonicMs();
        else end(answer);
      } catch (error) {
        if (!term.lost.aborted) log.warn('lease renewal failed', { error, leftMs: term.leftMs() });
      }
    }
  }

  function end(because: TermEnd): void {
    if (term.lost.aborted) return;
    term.end(because);
    metrics?.held(label, false);
    metrics?.ended(label, because);
    if (because === 'released') log.info('lease released', { epoch });
    else log.error('lease lost', { epoch, because });
  }

  async function release(): Promise<void> {
    if (term.lost.aborted) return;
    end('released');
    // A renewal in flight ends first: its answer has the version to write to.
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
  /** `changed`: another client wrote to it, but we still hold it; try again with the new version. */
  renew(): Promise<'renewed' | 'changed' | 'taken' | 'deleted'>;
  release(): Promise<void>;
}

/** The Lease in the version that was written last. */
function createLeaseObject({ settings, object, epoch, acquiredAt }: AcquiredLease): LeaseObject {
  const { client, clock, identity, leaseSeconds, name, timeoutMs } = settings;
  let latest = object;
  return {
    renew: async () => {
      const claim = { identity, epoch, leaseSeconds, acquiredAt, now: clock.now() };
      try {
        latest = await client.replace(LEASES, withClaim(latest, claim), { timeoutMs });
        return 'renewed';
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return 'deleted';
        if (!isKubeError(error, 'Conflict')) throw error;
        return await readAgain();
      }
    },
    release: async () => {
      latest = await client.replace(LEASES, withoutHolder(latest, clock.now()), { timeoutMs });
    },
  };

  /** The cause is another client's label, our own renewal whose answer was lost, or another holder. */
  async function readAgain(): Promise<'changed' | 'taken' | 'deleted'> {
    try {
      const present = await client.get(LEASES, name, { timeoutMs });
      const record = readLeaseRecord(present);
      if (record.holder !== identity || record.epoch !== epoch) return 'taken';
      latest = present;
      return 'changed';
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return 'deleted';
      throw error;
    }
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
