/** Begins, finds and ends the sessions of requests, by their cookie. */

import { clientAddress } from '../../os/net/connection-limits.ts';
import type { Admitted } from '../server/access.ts';
import { sendText } from '../server/replies.ts';
import {
  formatCookie,
  formatExpiredCookie,
  LOGIN_COOKIE,
  readCookie,
  SESSION_COOKIE,
} from './http/cookies.ts';
import { redirectTo } from './http/html.ts';
import { crossSiteReason } from './http/site.ts';
import type { OpenPages } from './open-pages.ts';
import type { Session } from './sessions.ts';
import { type SignedIn, type SignInOptions, type SiteRequest, showSignIn } from './sign-in.ts';

export interface SessionRequestsOptions extends SignInOptions {
  readonly pages: OpenPages;
}

export interface SessionRequests {
  find(asked: SiteRequest): Session | undefined;
  /** Returns the cookies of a new session. Undefined: it was refused, with an answer. */
  begin(asked: SiteRequest, signedIn: SignedIn): readonly string[] | undefined;
  admit(asked: SiteRequest, session: Session): Admitted;
  signOut(asked: SiteRequest): void;
}

export function createSessionRequests(options: SessionRequestsOptions): SessionRequests {
  const { sessions, pages, log } = options;
  const find = ({ request, site }: SiteRequest): Session | undefined =>
    sessions.find(readCookie(request.headers.cookie, SESSION_COOKIE, site));

  return {
    find,
    begin(asked, { user, credentials }) {
      const { request, site } = asked;
      const before = find(asked);
      if (before) sessions.end(before, 'signedOut');
      // Always with a new id: one that was set before the sign-in is of no use.
      const session = sessions.create(user, credentials);
      if (!session) {
        showSignIn(asked, options, { status: 503, message: 'Not signed in: too many people are signed in.' });
        return undefined;
      }
      pages.begin(session);
      log.info('signed in', { user: user.name, address: clientAddress(request.socket.remoteAddress) });
      const cookie = formatCookie(SESSION_COOKIE, site, { value: session.id });
      return [cookie, formatExpiredCookie(LOGIN_COOKIE, site)];
    },
    admit({ request }, session) {
      const { user, endsAt } = session;
      const address = clientAddress(request.socket.remoteAddress);
      return {
        session: { user: user.name, groups: user.groups, endsAt: endsAt.toISOString() },
        addStream: (stream) => pages.add(session, stream, address),
        source: pages.source(session),
      };
    },
    signOut(asked) {
      const { request, response, site } = asked;
      const foreign = crossSiteReason(request.headers, site);
      if (foreign !== undefined) {
        sendText(response, 403, `not signed out: ${foreign}`);
        return;
      }
      const session = find(asked);
      if (session) sessions.end(session, 'signedOut');
      redirectTo(response, '/login');
    },
  };
}
