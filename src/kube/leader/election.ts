/**
 * Leader election over a Lease. At most one process may act at any moment, provided that each calls `term.fence()`
 * immediately before it acts: by its own clock, a holder stops before any other candidate can consider its lease
 * expired. The epoch protects against writes that arrive late.
 */
import { isKubeError } from '../client/errors.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Log, LogFields } from '../process/log.ts';
import {
  assessLease,
  createEmptyLease,
  LEASES,
  type LeaseAvailability,
  type ObservedLease,
  observeLease,
  withClaim,
} from './record.ts';
import { type HeldTerm, holdTerm } from './renewal.ts';
import { type LeaseOptions, type LeaseSettings, resolveLeaseSettings } from './settings.ts';
import { readMoment } from './term.ts';

export interface LeaseElection {
  /** Waits for the Lease without limit. Rejects only with the reason of the signal, which ends the wait, not the term. */
  campaign(signal: AbortSignal): Promise<HeldTerm>;
  /** The holder as last observed. */
  holder(): string | undefined;
}

// Candidates add up to this share of the retry interval, so that they do not all try at the same moment.
const JITTER = 0.2;

export function createLeaseElection(options: LeaseOptions): LeaseElection {
  const settings = resolveLeaseSettings(options);
  const { client, clock, identity, name, random } = settings;
  const log = settings.log.with({ lease: settings.label });
  const logChange = createChangeLog(log);
  const lease = createLeaseObserver(settings);
  let attemptedEpoch: number | undefined;
  let current: 'campaign' | HeldTerm | undefined;

  return { campaign, holder: () => lease.latest()?.record.holder };

  async function campaign(signal: AbortSignal): Promise<HeldTerm> {
    if (current && (current === 'campaign' || !current.lost.aborted)) {
      throw new Error(`lease ${settings.label}: a campaign or a term is already in progress`);
    }
    current = 'campaign';
    try {
      current = await waitForLease(signal);
      return current;
    } finally {
      if (current === 'campaign') current = undefined;
    }
  }

  async function waitForLease(signal: AbortSignal): Promise<HeldTerm> {
    for (;;) {
      signal.throwIfAborted();
      const term = await tryAcquire(signal);
      if (term) return term;
      await clock.sleep(settings.retrySeconds * 1000 * (1 + JITTER * random()), signal);
    }
  }

  /** Undefined when the Lease could not be acquired this time, for whatever reason. */
  async function tryAcquire(signal: AbortSignal): Promise<HeldTerm | undefined> {
    try {
      const present = await lease.read(signal);
      const availability = lease.assess(attemptedEpoch);
      if (availability.free) return await acquire(present, availability.because, signal);
      logChange('info', 'lease held by another process', { holder: availability.holder });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const lostRace = isKubeError(error, 'Conflict', 'AlreadyExists');
      if (!lostRace) logChange('warn', 'lease not acquired', { error });
    }
    return undefined;
  }

  async function acquire(
    present: KubeObject | undefined,
    because: string,
    signal: AbortSignal,
  ): Promise<HeldTerm> {
    const epoch = await nextEpoch();
    const claim = { identity, epoch, leaseSeconds: settings.leaseSeconds, now: clock.now() };
    const desired = withClaim(present ?? createEmptyLease(name), claim);
    // From here on we may hold it, even when the answer is lost.
    attemptedEpoch = epoch;
    const sentAt = readMoment(clock);
    const call = { signal, timeoutMs: settings.timeoutMs };
    const object = await (present
      ? client.replace(LEASES, desired, call)
      : client.create(LEASES, desired, call));
    lease.wrote(object);
    log.info('lease acquired', { epoch, because });
    return holdTerm({ settings, log, epoch, sentAt });
  }

  async function nextEpoch(): Promise<number> {
    const recorded = (await settings.epochAbove?.()) ?? 0;
    return Math.max(lease.latest()?.record.epoch ?? 0, attemptedEpoch ?? 0, recorded) + 1;
  }
}

interface LeaseObserver {
  /** Undefined when the Lease does not exist. */
  read(signal: AbortSignal): Promise<KubeObject | undefined>;
  wrote(object: KubeObject): void;
  latest(): ObservedLease | undefined;
  assess(attemptedEpoch: number | undefined): LeaseAvailability;
}

function createLeaseObserver(settings: LeaseSettings): LeaseObserver {
  const { client, clock, identity, name, leaseSeconds, timeoutMs } = settings;
  let latest: ObservedLease | undefined;
  const observe = (object: KubeObject): void => {
    latest = observeLease(latest, object, clock.monotonicMs());
  };
  return {
    read: async (signal) => {
      try {
        const object = await client.get(LEASES, name, { signal, timeoutMs });
        observe(object);
        return object;
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return undefined;
        throw error;
      }
    },
    wrote: observe,
    latest: () => latest,
    // A Lease that was deleted keeps its last observed record: its holder still has the rest of its time.
    assess: (attemptedEpoch) => {
      const candidate = { identity, attemptedEpoch, leaseMs: leaseSeconds * 1000 };
      return latest
        ? assessLease(latest, candidate, clock.monotonicMs())
        : { free: true, because: 'never held' };
    },
  };
}

type LogChange = (level: 'info' | 'warn', message: string, fields: LogFields) => void;

/** Logs only changes, because the same state is observed every two seconds. */
function createChangeLog(log: Log): LogChange {
  let logged: unknown;
  return (level, message, fields) => {
    const { error, holder } = fields;
    const state = isKubeError(error) ? error.code : `${message} ${String(holder)}`;
    if (logged === state) return;
    logged = state;
    log[level](message, fields);
  };
}
