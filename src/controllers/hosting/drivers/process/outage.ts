/**
 * Measures how long a member does not answer when it is changed or started: from before its stop, or its start, until it is observed to answer.
 * It is kept in memory, since another process of hosting does not know what happened meanwhile.
 */
import type { Clock } from '../../../../os/clock.ts';
import type { MemberOutage } from '../driver.ts';

export interface OutageMeter {
  /** A later change begins the time again; a start does not, because it belongs to what went before. */
  begin(member: string, cause: MemberOutage['cause']): void;
  /** Returns the last outage, which ends here where one has begun. */
  answered(member: string): MemberOutage | undefined;
}

export function createOutageMeter(clock: Clock): OutageMeter {
  const begun = new Map<string, { readonly sinceMs: number; readonly cause: MemberOutage['cause'] }>();
  const last = new Map<string, MemberOutage>();
  return {
    begin: (member, cause) => {
      if (cause === 'Start' && begun.has(member)) return;
      begun.set(member, { sinceMs: clock.monotonicMs(), cause });
    },
    answered: (member) => {
      const found = begun.get(member);
      if (!found) return last.get(member);
      const milliseconds = Math.round(clock.monotonicMs() - found.sinceMs);
      const outage = { endedAt: clock.now(), milliseconds, cause: found.cause };
      begun.delete(member);
      last.set(member, outage);
      return outage;
    },
  };
}
