/** Opens the pages of sessions: each is added to the fleet that is read with the credentials of its session. */
import type { ServerResponse } from 'node:http';
import { isKubeError } from '../../kube/client/errors.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { TOO_MANY_PAGES } from '../server/access.ts';
import type { ReadOnDemand } from '../server/streams.ts';
import type { IdentityReader } from './identity.ts';
import type { Session, SessionEnd } from './sessions.ts';
import type { UserFleets } from './user-fleets.ts';

/**
 * How long the API server may refuse credentials before their sessions end. A server that was restarted does not know the keys of an issuer
 * for some seconds. Nothing is shown meanwhile.
 */
const DOUBT_MS = 15_000;
const IN_DOUBT = 'the API server does not accept your token: trying again';
const RIGHTS_CHANGED = 'the API server took away a right while the page was opened: trying again';
const ENDED = 'the session has ended';
const TOO_MANY_OF_PERSON =
  'you have the console open with too many sign-ins: sign out where you do not need it';
const TOO_MANY_PEOPLE = 'too many people have the console open: try again in some minutes';

export interface OpenPagesOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly fleets: UserFleets;
  readonly identity: IdentityReader;
  /** Called when the API server does not accept the credentials of a session. */
  readonly endSessions: (credentialsKey: string, because: SessionEnd) => void;
  readonly signal: AbortSignal;
}

export interface OpenPages {
  /** Begins to keep the pages of a session. */
  begin(session: Session): void;
  /** Adds a page. Returns why it was not added. */
  add(session: Session, response: ServerResponse, address: string): Promise<string | undefined>;
  /** Returns what the session may read on demand, from the fleet that its pages show. */
  source(session: Session): ReadOnDemand | undefined;
  /** Tells whether the session has an open page. */
  isOpen(session: Session): boolean;
  /** Ends all pages of a session. */
  end(session: Session): void;
}

export function createOpenPages({
  clock,
  fleets,
  identity,
  endSessions,
  signal,
}: OpenPagesOptions): OpenPages {
  const pages = new Map<string, Set<ServerResponse>>();
  /** Since when the API server refuses the credentials with this key. */
  const doubts = new Map<string, number>();

  return {
    begin: ({ id }) => void pages.set(id, new Set()),
    async add(session, response, address) {
      try {
        const because = await refusalOf(session);
        if (because !== undefined) return because;
        // The person may have signed out while the API server was asked.
        if (!pages.has(session.id)) return ENDED;
        const streams = await fleets.open(session.credentials, session.user.name);
        if (streams === 'TooMany') return TOO_MANY_PEOPLE;
        if (streams === 'TooManyOfPerson') return TOO_MANY_OF_PERSON;
        if (streams === 'Ended') return RIGHTS_CHANGED;
        return addTo(session, response, () => streams.add(response, address));
      } catch (error) {
        return `the API server cannot be read: ${messageOf(error)}`;
      }
    },
    source: ({ credentials }) => fleets.source(credentials.key),
    isOpen: ({ id }) => (pages.get(id)?.size ?? 0) > 0,
    end({ id, credentials }) {
      for (const response of pages.get(id) ?? []) response.end();
      pages.delete(id);
      doubts.delete(credentials.key);
    },
  };

  /** Synchronous from the check on: a session that ended meanwhile gets no page. */
  function addTo({ id }: Session, response: ServerResponse, add: () => boolean): string | undefined {
    const own = pages.get(id);
    if (!own || response.destroyed) return ENDED;
    if (!add()) return TOO_MANY_PAGES;
    own.add(response);
    response.once('close', () => own.delete(response));
    return undefined;
  }

  /** Before anything is read, the API server is asked again whose credentials they are. */
  async function refusalOf({ user, credentials }: Session): Promise<string | undefined> {
    const { key, bearer } = credentials;
    if (fleets.has(key)) return undefined;
    try {
      const { name } = await identity.read(bearer, signal);
      doubts.delete(key);
      if (name === user.name) return undefined;
    } catch (error) {
      if (!isKubeError(error, 'Unauthorized')) throw error;
      const since = doubts.get(key) ?? clock.monotonicMs();
      doubts.set(key, since);
      if (clock.monotonicMs() - since < DOUBT_MS) return IN_DOUBT;
    }
    endSessions(key, 'refused');
    return ENDED;
  }
}
