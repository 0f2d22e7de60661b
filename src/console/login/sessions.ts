/** Keeps the sessions of signed-in people in memory, and ends them. A session is found only by its random id. */
import { createHash } from 'node:crypto';
import type { BearerSource } from '../../kube/auth/bearer.ts';
import type { User } from '../../kube/auth/self-review.ts';
import type { Clock } from '../../os/clock.ts';

export interface SessionCredentials {
  /** Names the credentials. Sessions with the same credentials share what is read with them. */
  readonly key: string;
  readonly bearer: BearerSource;
  /** When they end. Undefined: the API server decides it alone. */
  readonly endsAt?: Date | undefined;
}

export interface Session {
  readonly id: string;
  readonly user: User;
  readonly credentials: SessionCredentials;
  /** When it ends, however much it is used. */
  readonly endsAt: Date;
}

/** Sentences for the sign-in page. */
export const SESSION_ENDS = {
  signedOut: 'You signed out.',
  idle: 'Your session ended: it was not used for 30 minutes.',
  expired: 'Your session ended: its time, or that of your token, is over.',
  refused: 'Your session ended: the API server does not accept your token.',
  replaced: 'Your session ended: you signed in too often elsewhere.',
} as const;
export type SessionEnd = keyof typeof SESSION_ENDS;

export interface SessionLimits {
  readonly total: number;
  readonly perUser: number;
  /** How long a session may be without a request and without an open page. */
  readonly idleMs: number;
  readonly longestMs: number;
}

/** A working day. A tab that stays open is in use. Ten are a person with several browsers; two hundred are all people of a large team. */
export const SESSION_LIMITS: SessionLimits = {
  total: 200,
  perUser: 10,
  idleMs: 30 * 60_000,
  longestMs: 12 * 3_600_000,
};
/** The number of ended sessions whose reason is remembered. */
const MAX_ENDED = 500;

export interface Sessions {
  /** Undefined: there are too many. */
  create(user: User, credentials: SessionCredentials): Session | undefined;
  /** Finds a session and counts as a use of it. */
  find(id: string | undefined): Session | undefined;
  /** Returns why the session with this id ended. */
  endOf(id: string | undefined): SessionEnd | undefined;
  end(session: Session, because: SessionEnd): void;
  /** Ends all sessions with these credentials. */
  endAll(credentialsKey: string, because: SessionEnd): void;
  /** Ends the sessions whose time is over. Those for which `isOpen` is true are in use. */
  sweep(isOpen: (session: Session) => boolean): void;
  /** Returns who has sessions with these credentials. */
  usersOf(credentialsKey: string): readonly string[];
  /** Returns how many sessions these credentials have. */
  count(credentialsKey: string): number;
}

export interface SessionsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly createId: () => string;
  readonly onEnd: (session: Session, because: SessionEnd) => void;
  readonly limits?: SessionLimits;
}

interface Entry {
  readonly session: Session;
  usedMs: number;
}

export function createSessions({
  clock,
  createId,
  onEnd,
  limits = SESSION_LIMITS,
}: SessionsOptions): Sessions {
  /** By the digest of the id. */
  const open = new Map<string, Entry>();
  const ended = new Map<string, SessionEnd>();
  const nowMs = (): number => clock.now().getTime();

  return {
    create(user, credentials) {
      sweep(() => false, ['expired']);
      const own = [...open.values()].filter(({ session }) => session.user.name === user.name);
      const [oldest] = own.toSorted((one, other) => one.usedMs - other.usedMs);
      if (oldest && own.length >= limits.perUser) end(oldest.session, 'replaced');
      if (open.size >= limits.total) return undefined;
      const session = { id: createId(), user, credentials, endsAt: endFor(credentials) };
      open.set(digestOf(session.id), { session, usedMs: nowMs() });
      return session;
    },
    find(id) {
      const key = id === undefined ? undefined : digestOf(id);
      const entry = key === undefined ? undefined : open.get(key);
      if (key === undefined || !entry) return undefined;
      const over = overReason(entry, false);
      if (over) {
        end(entry.session, over);
        return undefined;
      }
      entry.usedMs = nowMs();
      return entry.session;
    },
    endOf: (id) => (id === undefined ? undefined : ended.get(digestOf(id))),
    end,
    endAll(credentialsKey, because) {
      for (const session of sessionsWith(credentialsKey)) end(session, because);
    },
    sweep: (isOpen) => sweep(isOpen, ['expired', 'idle']),
    usersOf: (credentialsKey) => [...new Set(sessionsWith(credentialsKey).map(({ user }) => user.name))],
    count: (credentialsKey) => sessionsWith(credentialsKey).length,
  };

  function sessionsWith(credentialsKey: string): readonly Session[] {
    const all = Array.from(open.values(), ({ session }) => session);
    return all.filter(({ credentials }) => credentials.key === credentialsKey);
  }

  function endFor({ endsAt }: SessionCredentials): Date {
    const longest = nowMs() + limits.longestMs;
    return new Date(Math.min(longest, endsAt?.getTime() ?? longest));
  }

  function overReason({ session, usedMs }: Entry, isOpen: boolean): SessionEnd | undefined {
    if (nowMs() >= session.endsAt.getTime()) return 'expired';
    return !isOpen && nowMs() - usedMs >= limits.idleMs ? 'idle' : undefined;
  }

  function sweep(isOpen: (session: Session) => boolean, reasons: readonly SessionEnd[]): void {
    for (const entry of open.values()) {
      const isInUse = isOpen(entry.session);
      if (isInUse) entry.usedMs = nowMs();
      const over = overReason(entry, isInUse);
      if (over && reasons.includes(over)) end(entry.session, over);
    }
  }

  function end(session: Session, because: SessionEnd): void {
    const key = digestOf(session.id);
    if (!open.delete(key)) return;
    ended.set(key, because);
    const [oldest] = ended.keys();
    if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest);
    onEnd(session, because);
  }
}

/** Names an id or a token without being one. A lookup by digest takes the same time for every id that is wrong. */
export function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('base64');
}
