/** Answers the paths of the sign-in, and admits requests that have a session. */
import { clientAddress } from '../../os/net/connection-limits.ts';
import type { Admitted } from '../server/access.ts';
import { sendContent, sendText } from '../server/replies.ts';
import { formatCookie, formatExpiredCookie, LOGIN_COOKIE, readCookie, SESSION_COOKIE } from './cookies.ts';
import { redirectTo, sendHtml } from './html.ts';
import type { OpenPages } from './open-pages.ts';
import { continuePage, LOGIN_STYLE, STYLE_PATH } from './pages.ts';
import type { Session } from './sessions.ts';
import { judgeForm, type SignedIn, type SignInOptions, type SiteRequest, showSignIn } from './sign-in.ts';
import { crossSiteReason } from './site.ts';

export interface RoutesOptions extends SignInOptions {
  readonly pages: OpenPages;
}

/** Resolves to undefined when it has answered the request. */
export type Routes = (asked: SiteRequest) => Promise<Admitted | undefined>;

type Route = (asked: SiteRequest) => void | Promise<void>;

export function createRoutes(options: RoutesOptions): Routes {
  const { sessions, pages, ways, log } = options;
  const routes: Readonly<Record<string, Route>> = {
    'GET /login': (asked) =>
      sessionOf(asked) ? redirectTo(asked.response, '/') : showSignIn(asked, options),
    ...(ways.token ? { 'POST /login': submit } : {}),
    [`GET ${STYLE_PATH}`]: ({ response }) =>
      sendContent(response, 200, { type: 'text/css; charset=utf-8', content: LOGIN_STYLE }),
    'POST /logout': signOut,
  };

  return async (asked) => {
    const { request, response } = asked;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const path = (request.url ?? '').split('?')[0] ?? '';
    const route = routes[`${method} ${path}`];
    if (route) {
      await route(asked);
      return undefined;
    }
    if (method !== 'GET') {
      sendText(response, 405, 'the console is read-only: only GET and HEAD are allowed');
      return undefined;
    }
    const session = sessionOf(asked);
    if (session) return admit(asked, session);
    refuse(asked, path);
    return undefined;
  };

  function sessionOf({ request, site }: SiteRequest): Session | undefined {
    return sessions.find(readCookie(request.headers.cookie, SESSION_COOKIE, site));
  }

  function admit({ request }: SiteRequest, session: Session): Admitted {
    const address = clientAddress(request.socket.remoteAddress);
    const { user, endsAt } = session;
    return {
      session: { user: user.name, groups: user.groups, endsAt: endsAt.toISOString() },
      addStream: (stream) => pages.add(session, stream, address),
    };
  }

  async function submit(asked: SiteRequest): Promise<void> {
    const result = await judgeForm(asked, options);
    if ('status' in result) {
      showSignIn(asked, options, result);
      return;
    }
    const cookies = begin(asked, result);
    if (cookies) redirectTo(asked.response, '/', cookies);
  }

  /** A session always has a new id: one that was set before the sign-in is of no use. Undefined: it was refused, with an answer. */
  function begin(asked: SiteRequest, { user, credentials }: SignedIn): readonly string[] | undefined {
    const { request, site } = asked;
    const before = sessionOf(asked);
    if (before) sessions.end(before, 'signedOut');
    const session = sessions.create(user, credentials);
    if (!session) {
      showSignIn(asked, options, { status: 503, message: 'Not signed in: too many people are signed in.' });
      return undefined;
    }
    pages.begin(session);
    log.info('signed in', { user: user.name, address: clientAddress(request.socket.remoteAddress) });
    return [
      formatCookie(SESSION_COOKIE, site, { value: session.id }),
      formatExpiredCookie(LOGIN_COOKIE, site),
    ];
  }

  function signOut(asked: SiteRequest): void {
    const { request, response, site } = asked;
    const foreign = crossSiteReason(request.headers, site);
    if (foreign !== undefined) {
      sendText(response, 403, `not signed out: ${foreign}`);
      return;
    }
    const session = sessionOf(asked);
    if (session) sessions.end(session, 'signedOut');
    redirectTo(response, '/login');
  }
}

/** A person is led to the sign-in; everything else learns only that it has no session. */
function refuse({ request, response }: SiteRequest, path: string): void {
  if (path !== '/') {
    sendText(response, 401, 'not signed in');
    return;
  }
  const isFromElsewhere = request.headers['sec-fetch-site'] === 'cross-site';
  // The browser did not send the cookie of a session that may exist.
  if (isFromElsewhere) sendHtml(response, 200, { page: continuePage() });
  else redirectTo(response, '/login');
}
