/**
 * Measures how long the API server does not answer when it is changed or started: from before its stop, or its start, until it is observed to answer.
 * It is kept in memory, since another process of hosting does not know what happened meanwhile.
 */
import type { Clock } from '../../../../../os/clock.ts';
import type { MemberOutage } from '../../driver.ts';
import type { MemberSpec } from '../member-spec.ts';

/** The log file tells API servers of several control planes apart. */
type MeteredMember = Pick<MemberSpec, 'member' | 'logFile'>;

export interface OutageMeter {
  /** A later change begins the time again; a start does not, because it belongs to what went before. */
  begin(member: MeteredMember, cause: MemberOutage['cause']): void;
  /** Returns the last outage, which ends here where one has begun. */
  answered(member: MeteredMember): MemberOutage | undefined;
}

export function createOutageMeter(clock: Clock): OutageMeter {
  const begun = new Map<string, { readonly sinceMs: number; readonly cause: MemberOutage['cause'] }>();
  const last = new Map<string, MemberOutage>();
  return {
    begin: ({ member, logFile }, cause) => {
      if (member !== 'kube-apiserver' || (cause === 'Start' && begun.has(logFile))) return;
      begun.set(logFile, { sinceMs: clock.monotonicMs(), cause });
    },
    answered: ({ logFile }) => {
      const found = begun.get(logFile);
      if (!found) return last.get(logFile);
      const milliseconds = Math.round(clock.monotonicMs() - found.sinceMs);
      const outage = { endedAt: clock.now(), milliseconds, cause: found.cause };
      begun.delete(logFile);
      last.set(logFile, outage);
      return outage;
    },
  };
}
