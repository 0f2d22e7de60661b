import { describe, expect, it } from 'vitest';
import {
  createSessions,
  SESSION_LIMITS,
  type Session,
  type SessionCredentials,
  type SessionEnd,
  type SessionLimits,
  type Sessions,
} from '../../../src/console/login/sessions.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;
const user = (name: string) => ({ name, groups: [] });
const credentials = (key: string, endsAt?: Date): SessionCredentials => ({
  key,
  endsAt,
  bearer: () => Promise.resolve(key),
});

interface Bed {
  readonly clock: ReturnType<typeof virtualClock>;
  readonly sessions: Sessions;
  readonly ends: readonly (readonly [user: string, because: SessionEnd])[];
  readonly create: (name: string, key?: string) => Session;
}

function bed(limits: SessionLimits = SESSION_LIMITS): Bed {
  const clock = virtualClock();
  const ends: (readonly [string, SessionEnd])[] = [];
  let ids = 0;
  const sessions = createSessions({
    clock,
    createId: () => `id-${(ids += 1)}`,
    onEnd: (session, because) => void ends.push([session.user.name, because]),
    limits,
  });
  return {
    clock,
    sessions,
    ends,
    create(name, key = name) {
      const session = sessions.create(user(name), credentials(key));
      if (!session) throw new Error('no session');
      return session;
    },
  };
}

describe('createSessions', () => {
  it('CON-25 finds a session by its id only', () => {
    const { sessions, create } = bed();
    const anna = create('anna');
    const ben = create('ben');
    expect([sessions.find(anna.id), sessions.find(ben.id)]).toEqual([anna, ben]);
    expect(['', 'id-3', 'anna', undefined].map((id) => sessions.find(id))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('CON-25 ends a session that is not used for half an hour, and not one with an open page', async () => {
    const { clock, sessions, create, ends } = bed();
    const idle = create('idle');
    const open = create('open');
    for (let minutes = 0; minutes < 35; minutes += 5) {
      await clock.advance(5 * 60_000);
      sessions.sweep((session) => session === open);
    }
    expect(ends).toEqual([['idle', 'idle']]);
    expect(sessions.endOf(idle.id)).toBe('idle');
    expect(sessions.find(open.id)).toBe(open);
  });

  it('counts a request as a use', async () => {
    const { clock, sessions, create } = bed();
    const { id } = create('anna');
    for (let round = 0; round < 4; round += 1) {
      await clock.advance(29 * 60_000);
      expect(sessions.find(id)).toBeDefined();
    }
    await clock.advance(30 * 60_000);
    expect(sessions.find(id)).toBeUndefined();
  });

  it('CON-25 ends every session after twelve hours, also one in use', async () => {
    const { clock, sessions, create, ends } = bed();
    create('anna');
    for (let hours = 0; hours < 12; hours += 1) {
      expect(ends).toEqual([]);
      await clock.advance(HOUR_MS);
      sessions.sweep(() => true);
    }
    expect(ends).toEqual([['anna', 'expired']]);
  });

  it('CON-25 ends a session with its token', async () => {
    const { clock, sessions } = bed();
    const endsAt = new Date(clock.now().getTime() + 60_000);
    const session = sessions.create(user('anna'), credentials('a', endsAt));
    expect(session?.endsAt).toEqual(endsAt);
    await clock.advance(59_999);
    expect(sessions.find(session?.id)).toBe(session);
    await clock.advance(1);
    expect(sessions.find(session?.id)).toBeUndefined();
    expect(sessions.endOf(session?.id)).toBe('expired');
  });

  it('CON-25 ends the least recently used session of a person who signs in too often, and of no other', async () => {
    const { sessions, create, ends, clock } = bed({ ...SESSION_LIMITS, perUser: 3 });
    const [first, second] = [create('anna'), create('anna'), create('anna')];
    create('ben');
    await clock.advance(1000);
    sessions.find(first?.id);
    create('anna');
    expect(ends).toEqual([['anna', 'replaced']]);
    expect(sessions.endOf(second?.id)).toBe('replaced');
    expect(sessions.find(first?.id)).toBe(first);
  });

  it('CON-25 counts an open page as a use when a session gives way', async () => {
    const { sessions, create, clock } = bed({ ...SESSION_LIMITS, perUser: 2 });
    const open = create('anna');
    await clock.advance(1000);
    const idle = create('anna');
    await clock.advance(1000);
    sessions.sweep((session) => session === open);
    create('anna');
    expect([sessions.endOf(open.id), sessions.endOf(idle.id)]).toEqual([undefined, 'replaced']);
  });

  it('CON-25 refuses one session too many, until another one ends', async () => {
    const { clock, sessions, create } = bed({ ...SESSION_LIMITS, total: 2, longestMs: HOUR_MS });
    const [one] = [create('a'), create('b')];
    expect(sessions.create(user('c'), credentials('c'))).toBeUndefined();
    sessions.end(one, 'signedOut');
    create('c');
    expect(sessions.create(user('d'), credentials('d'))).toBeUndefined();
    await clock.advance(HOUR_MS);
    create('d');
  });

  it('ends all sessions with the same credentials at once, each once', () => {
    const { sessions, create, ends } = bed();
    const [one] = [create('anna', 'same'), create('anna', 'same'), create('anna', 'other')];
    expect(sessions.count('same')).toBe(2);
    sessions.endAll('same', 'refused');
    sessions.end(one, 'signedOut');
    expect(ends).toEqual([
      ['anna', 'refused'],
      ['anna', 'refused'],
    ]);
    expect([sessions.count('same'), sessions.count('other')]).toEqual([0, 1]);
  });

  it('remembers why the last five hundred sessions ended', () => {
    const { sessions, create } = bed();
    const all = Array.from({ length: 501 }, () => {
      const session = create('anna');
      sessions.end(session, 'signedOut');
      return session;
    });
    expect(sessions.endOf(all[0]?.id)).toBeUndefined();
    expect(sessions.endOf(all[1]?.id)).toBe('signedOut');
    expect(sessions.endOf(undefined)).toBeUndefined();
  });
});
