/** Answers the paths of the sign-in, and admits requests that have a session. */
import type { Admitted } from '../server/access.ts';
import { sendContent, sendText } from '../server/replies.ts';
import { formatExpiredCookie, OIDC_COOKIE } from './http/cookies.ts';
import { redirectTo, sendHtml } from './http/html.ts';
import { continuePage, LOGIN_STYLE, OIDC_CALLBACK, OIDC_START, STYLE_PATH } from './http/pages.ts';
import type { OidcSignIn } from './oidc/sign-in.ts';
import { createSessionRequests, type SessionRequestsOptions } from './session-requests.ts';
import { judgeForm, type SiteRequest, showSignIn } from './sign-in.ts';

export interface RoutesOptions extends SessionRequestsOptions {
  /** Undefined: people sign in with a token. */
  readonly oidc: OidcSignIn | undefined;
}

/** Resolves to undefined when it has answered the request. */
export type Routes = (asked: SiteRequest) => Promise<Admitted | undefined>;

type Route = (asked: SiteRequest) => void | Promise<void>;

export function createRoutes(options: RoutesOptions): Routes {
  const { ways, oidc } = options;
  const requests = createSessionRequests(options);
  const routes: Readonly<Record<string, Route>> = {
    'GET /login': (asked) =>
      requests.find(asked) ? redirectTo(asked.response, '/') : showSignIn(asked, options),
    [`GET ${STYLE_PATH}`]: ({ response }) =>
      sendContent(response, 200, { type: 'text/css; charset=utf-8', content: LOGIN_STYLE }),
    'POST /logout': (asked) => requests.signOut(asked),
    ...(ways.token ? { 'POST /login': submit } : {}),
    ...(oidc
      ? {
          [`GET ${OIDC_START}`]: (asked: SiteRequest) => lead(asked, oidc),
          [`GET ${OIDC_CALLBACK}`]: (asked: SiteRequest) => complete(asked, oidc),
        }
      : {}),
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
    const session = requests.find(asked);
    if (session) return requests.admit(asked, session);
    refuse(asked, path);
    return undefined;
  };

  async function submit(asked: SiteRequest): Promise<void> {
    const result = await judgeForm(asked, options);
    if ('status' in result) {
      showSignIn(asked, options, result);
      return;
    }
    const cookies = requests.begin(asked, result);
    if (cookies) redirectTo(asked.response, '/', cookies);
  }

  /** Leads the browser to the issuer, by a link: a form would be stopped by the policy of its page. */
  async function lead(asked: SiteRequest, issuer: OidcSignIn): Promise<void> {
    // A second session of this browser would leave the first one without its cookie, and so without a way to sign out.
    if (requests.find(asked)) {
      redirectTo(asked.response, '/');
      return;
    }
    const result = await issuer.start(asked);
    if ('status' in result) showSignIn(asked, options, result);
    else redirectTo(asked.response, result.location, [result.cookie]);
  }

  async function complete(asked: SiteRequest, issuer: OidcSignIn): Promise<void> {
    const result = await issuer.finish(asked);
    if ('status' in result) {
      showSignIn(asked, options, result);
      return;
    }
    const cookies = requests.begin(asked, result);
    if (!cookies) return;
    const headers = { 'set-cookie': [...cookies, formatExpiredCookie(OIDC_COOKIE, asked.site)] };
    sendHtml(asked.response, 200, { page: continuePage(), headers });
  }
}

/** A person is led to the sign-in; everything else learns only that it has no session. */
function refuse({ request, response }: SiteRequest, path: string): void {
  if (path !== '/') {
    sendText(response, 401, 'not signed in');
    return;
  }
  // The browser did not send the cookie of a session that may exist.
  if (request.headers['sec-fetch-site'] === 'cross-site') sendHtml(response, 200, { page: continuePage() });
  else redirectTo(response, '/login');
}
