/** Keeps a term: renews it while it can, ends it in time when it cannot, gives it back when told to. */
import type { Clock } from '../../os/clock.ts';
import { isKubeError } from '../client/errors.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import type { LeaseSettings } from './election.ts';
import { LEASES, readLeaseRecord, withClaim, withoutHolder } from './record.ts';
import { createTerm, type Moment, readMoment, type Term, type TermEnd, type TermState } from './term.ts';

export interface HeldTerm extends Term {
  /** Ends the term at once, then lets the others in without waiting. To be called when all work is done. Never rejects. */
  release(): Promise<void>;
}

export interface AcquiredLease {
  readonly settings: LeaseSettings;
  readonly log: Log;
  /** As the server answered. */
  readonly object: KubeObject;
  readonly epoch: number;
  readonly acquiredAt: Date;
  readonly sentAt: Moment;
}

// The shortest sleep that lets the event loop read what has already arrived.
const ONE_TURN_MS = 1;

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
  const paper = createLeaseObject(acquired);
  metrics?.held(label, true);
  const renewing = renew();
  const watching = watchDeadline(term, clock, () => end('expired'));

  return {
    epoch,
    lost: term.lost,
    held: () => term.held(),
    fence: () => term.fence(),
    leftMs: () => term.leftMs(),
    release,
  };

  async function renew(): Promise<void> {
    const retryMs = settings.retrySeconds * 1000;
    let dueMs = sentAt.monotonicMs + retryMs;
    while (await slept(clock, dueMs - clock.monotonicMs(), term.lost)) {
      dueMs = clock.monotonicMs() + retryMs;
      try {
        const sent = readMoment(clock);
        const answer = await paper.renew();
        if (answer === 'renewed') term.renewed(sent);
        else if (answer === 'changed') dueMs = clock.monotonicMs();
        else end(answer);
      } catch (error) {
        if (!term.lost.aborted) log.warn('lease not renewed', { error, leftMs: term.leftMs() });
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
    // A renewal under way ends first: its answer says which version to write upon.
    await Promise.all([renewing, watching]);
    await paper.giveBack().catch((error: unknown) => log.warn('lease not given back', { error }));
  }
}

/** The deadline moves with each renewal. When it is reached, what has already arrived is read first. */
async function watchDeadline(term: TermState, clock: Clock, expired: () => void): Promise<void> {
  for (let leftMs = term.leftMs(); leftMs > 0; leftMs = term.leftMs()) {
    if (!(await slept(clock, leftMs, term.lost))) return;
    if (term.leftMs() <= 0) await slept(clock, ONE_TURN_MS, term.lost);
  }
  expired();
}

interface LeaseObject {
  /** `changed`: somebody wrote to it, but it is still ours; try again upon the new version. */
  renew(): Promise<'renewed' | 'changed' | 'taken' | 'deleted'>;
  giveBack(): Promise<void>;
}

/** The object, of which we always know the version that we wrote last. */
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
        return await lookAgain();
      }
    },
    giveBack: async () => {
      latest = await client.replace(LEASES, withoutHolder(latest, clock.now()), { timeoutMs });
    },
  };

  /** A label of somebody, our own renewal whose answer was lost, or another holder. */
  async function lookAgain(): Promise<'changed' | 'taken' | 'deleted'> {
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
