/**
 * Leader election over a Lease. Of any number of processes at most one may act at one moment, as long as each asks
 * `term.fence()` right before it does: a holder stops by its own clock before any other can conclude by theirs
 * that it is gone. For writes that are late on their way there is the epoch.
 */

import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import { isKubeError } from '../client/errors.ts';
import type { KubeObject, ObjectName } from '../objects/object.ts';
import type { Log, LogFields } from '../process/log.ts';
import type { LeaseMetrics } from '../process/metrics-runtime.ts';
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
import { readMoment } from './term.ts';

export { LeaseLost, type Term } from './term.ts';

export interface LeaseOptions {
  readonly client: Pick<Client, 'get' | 'create' | 'replace'>;
  readonly name: ObjectName;
  /** Of this very process: a restart is somebody else. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: LeaseMetrics;
  /** After so long without a sign of life others may take over. */
  readonly leaseSeconds?: number;
  /** After so long without a renewal the holder stops acting. What lies between the two is for requests under way. */
  readonly renewDeadlineSeconds?: number;
  /** How often the holder renews, and the others look. */
  readonly retrySeconds?: number;
  /**
   * The highest epoch that is written anywhere: the next term is a later one even when the Lease was deleted
   * and begins again. When it cannot be read, nothing is acquired.
   */
  readonly epochAbove?: () => Promise<number>;
}

export interface LeaseElection {
  /** Waits for the Lease, for ever. Rejects only with the reason of the signal, which ends the waiting, not the term. */
  campaign(signal: AbortSignal): Promise<HeldTerm>;
  /** Who holds it, as last seen. */
  holder(): string | undefined;
}

/** With the defaults filled in. */
export interface LeaseSettings extends LeaseOptions {
  readonly leaseSeconds: number;
  readonly renewDeadlineSeconds: number;
  readonly retrySeconds: number;
  /** namespace/name, for people. */
  readonly label: string;
  readonly timeoutMs: number;
}

// Others come a little later each, so that they do not all try at the same moment.
const JITTER = 0.2;

export function createLeaseElection(options: LeaseOptions): LeaseElection {
  const settings = withDefaults(options);
  const { client, clock, identity, name, random } = settings;
  const log = settings.log.with({ lease: settings.label });
  const tell = tellOnce(log);
  const view = leaseView(settings);
  let ours: number | undefined;
  let busy: 'campaign' | HeldTerm | undefined;

  return { campaign, holder: () => view.latest()?.record.holder };

  async function campaign(signal: AbortSignal): Promise<HeldTerm> {
    if (busy && (busy === 'campaign' || !busy.lost.aborted)) {
      throw new Error(`lease ${settings.label}: one campaign at a time, and none during a term`);
    }
    busy = 'campaign';
    try {
      busy = await untilAcquired(signal);
      return busy;
    } finally {
      if (busy === 'campaign') busy = undefined;
    }
  }

  async function untilAcquired(signal: AbortSignal): Promise<HeldTerm> {
    for (;;) {
      signal.throwIfAborted();
      const term = await attempt(signal);
      if (term) return term;
      await clock.sleep(settings.retrySeconds * 1000 * (1 + JITTER * random()), signal);
    }
  }

  /** Undefined: not now, for whatever reason. */
  async function attempt(signal: AbortSignal): Promise<HeldTerm | undefined> {
    try {
      const present = await view.look(signal);
      const verdict = view.judge(ours);
      if (verdict.free) return await take(present, verdict.because, signal);
      tell('info', 'lease held by another', { holder: verdict.holder });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // Whoever was quicker is seen with the next look.
      if (!isKubeError(error, 'Conflict', 'AlreadyExists')) tell('warn', 'lease not acquired', { error });
    }
    return undefined;
  }

  async function take(
    present: KubeObject | undefined,
    because: string,
    signal: AbortSignal,
  ): Promise<HeldTerm> {
    const epoch = await nextEpoch();
    const acquiredAt = clock.now();
    const claim = { identity, epoch, leaseSeconds: settings.leaseSeconds, acquiredAt, now: acquiredAt };
    const wanted = withClaim(present ?? createEmptyLease(name), claim);
    // From here on it may be ours, whatever we hear.
    ours = epoch;
    const sentAt = readMoment(clock);
    const given = { signal, timeoutMs: settings.timeoutMs };
    const object = await (present
      ? client.replace(LEASES, wanted, given)
      : client.create(LEASES, wanted, given));
    view.wrote(object);
    log.info('lease acquired', { epoch, because });
    return holdTerm({ settings, log, object, epoch, acquiredAt, sentAt });
  }

  async function nextEpoch(): Promise<number> {
    const written = (await settings.epochAbove?.()) ?? 0;
    return Math.max(view.latest()?.record.epoch ?? 0, ours ?? 0, written) + 1;
  }
}

interface LeaseView {
  /** Undefined when there is none. */
  look(signal: AbortSignal): Promise<KubeObject | undefined>;
  wrote(object: KubeObject): void;
  latest(): ObservedLease | undefined;
  judge(ours: number | undefined): LeaseAvailability;
}

function leaseView({ client, clock, identity, name, leaseSeconds, timeoutMs }: LeaseSettings): LeaseView {
  let seen: ObservedLease | undefined;
  const see = (object: KubeObject): void => {
    seen = observeLease(seen, object, clock.monotonicMs());
  };
  return {
    look: async (signal) => {
      try {
        const object = await client.get(LEASES, name, { signal, timeoutMs });
        see(object);
        return object;
      } catch (error) {
        if (isKubeError(error, 'NotFound')) return undefined;
        throw error;
      }
    },
    wrote: see,
    latest: () => seen,
    // Absent because it never was, or because somebody deleted it: whoever held it then has the time that they had.
    judge: (ours) => {
      const us = { identity, ours, leaseMs: leaseSeconds * 1000 };
      return seen ? assessLease(seen, us, clock.monotonicMs()) : { free: true, because: 'never held' };
    },
  };
}

type Tell = (level: 'info' | 'warn', message: string, fields: LogFields) => void;

/** Once for each new state of things: nobody reads the same line every two seconds. */
function tellOnce(log: Log): Tell {
  let told: unknown;
  return (level, message, fields) => {
    const { error, holder } = fields;
    const about = isKubeError(error) ? error.code : `${message} ${String(holder)}`;
    if (told === about) return;
    told = about;
    log[level](message, fields);
  };
}

function withDefaults(options: LeaseOptions): LeaseSettings {
  const { leaseSeconds = 15, renewDeadlineSeconds = 10, retrySeconds = 2 } = options;
  const label = [options.name.namespace, options.name.name].filter(Boolean).join('/');
  if (!(leaseSeconds > renewDeadlineSeconds && renewDeadlineSeconds > 2 * retrySeconds && retrySeconds > 0)) {
    throw new RangeError(
      `lease ${label}: of ${leaseSeconds}/${renewDeadlineSeconds}/${retrySeconds} s the first must be longer than ` +
        'the second, and the second more than twice the third',
    );
  }
  if (!Number.isInteger(leaseSeconds)) {
    throw new RangeError(`lease ${label}: ${leaseSeconds} is not a whole number of seconds`);
  }
  // Two attempts fit between a renewal that is due and the deadline.
  const timeoutMs = ((renewDeadlineSeconds - retrySeconds) / 2) * 1000;
  return { ...options, leaseSeconds, renewDeadlineSeconds, retrySeconds, label, timeoutMs };
}
