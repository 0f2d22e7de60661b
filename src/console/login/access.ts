/** Decides what a request may see in a console with a login: without a session, nothing but the sign-in. */
import type { IncomingMessage } from 'node:http';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { ConsoleAccess } from '../server/access.ts';
import { sendContent, sendText } from '../server/replies.ts';
import { createSignInLimits } from './attempts.ts';
import { redirectTo } from './http/html.ts';
import type { SignInWays } from './http/pages.ts';
import { findRequestSite } from './http/site.ts';
import { type ConnectUser, createIdentityReader } from './identity.ts';
import type { Issuer } from './oidc/issuer.ts';
import { createOidcSignIn } from './oidc/sign-in.ts';
import { createOpenPages, type OpenPages } from './open-pages.ts';
import { createRoutes } from './routes.ts';
import { createSessions, type SessionEnd, type SessionLimits, type Sessions } from './sessions.ts';
import { createUserFleets, type UserFleets, type UserFleetsOptions } from './user-fleets.ts';

export interface LoginAccessOptions extends Pick<UserFleetsOptions, 'openFleet' | 'maxFleets'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly connectUser: ConnectUser;
  /** Returns a random text that cannot be guessed. */
  readonly createId: () => string;
  /** The issuer at which people sign in. Undefined: they sign in with a token. */
  readonly issuer?: { readonly name: string; readonly client: Issuer } | undefined;
  /** The address under which people open the console. Undefined: only on this machine. */
  readonly publicUrl?: URL | undefined;
  readonly sessionLimits?: SessionLimits;
}

/** A year, as browsers remember it. */
const STRICT_TRANSPORT = 'max-age=31536000';
/** How often ended sessions and unused fleets are looked for. */
const SWEEP_MS = 5000;
/** The paths that the kubelet asks, by the address of the pod. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export function createLoginAccess(options: LoginAccessOptions): ConsoleAccess {
  const { clock, publicUrl, log } = options;
  const stop = new AbortController();
  const { sessions, fleets, pages, routes } = createParts(options, stop.signal);

  return {
    async admit(request, response) {
      if (isProbe(request)) {
        sendContent(response, 200, { type: 'text/plain; charset=utf-8', content: 'ok\n' });
        return undefined;
      }
      const site = findRequestSite(request.headers.host, publicUrl);
      if (site?.isSecure && request.headers['x-forwarded-proto'] === 'http') {
        // A proxy that serves the page without TLS, too: no form is shown, and no token is read.
        redirectTo(response, site.origin);
        return undefined;
      }
      if (site?.isSecure) response.setHeader('strict-transport-security', STRICT_TRANSPORT);
      if (site) return await routes({ request, response, site });
      sendText(
        response,
        421,
        'the console does not answer under this host name: use the address that --url names',
      );
      return undefined;
    },
    async run(signal) {
      while (!signal.aborted) {
        sessions.sweep((session) => pages.isOpen(session));
        fleets.sweep();
        await clock.sleep(SWEEP_MS, signal).catch(() => undefined);
      }
      stop.abort();
      await fleets.close();
      log.info('sign-in ended');
    },
  };
}

interface LoginParts {
  readonly sessions: Sessions;
  readonly fleets: UserFleets;
  readonly pages: OpenPages;
  readonly routes: ReturnType<typeof createRoutes>;
}

function createParts(options: LoginAccessOptions, signal: AbortSignal): LoginParts {
  const { clock, log, createId, issuer } = options;
  const identity = createIdentityReader(options);
  const fleets = createUserFleets({
    ...options,
    onEnd: (key, loss, cluster) => {
      const where = cluster === undefined ? {} : { cluster };
      const users = sessions.usersOf(key);
      if (loss) log.info('rights of a session were taken away', { loss, ...where, users });
    },
  });
  const sessions: Sessions = createSessions({
    clock,
    createId,
    ...(options.sessionLimits ? { limits: options.sessionLimits } : {}),
    onEnd: (session, because) => {
      pages.end(session);
      const { key } = session.credentials;
      if (sessions.count(key) === 0) fleets.end(key);
      log.info('session ended', { user: session.user.name, because });
    },
  });
  const endSessions = (key: string, because: SessionEnd): void => sessions.endAll(key, because);
  const pages = createOpenPages({ clock, fleets, identity, endSessions, signal });
  const limits = createSignInLimits(clock);
  const shared = { clock, log, createId, identity, limits, signal };
  const oidc = issuer && createOidcSignIn({ ...shared, issuer: issuer.client });
  const ways: SignInWays = { token: issuer === undefined, issuer: issuer?.name };
  const routes = createRoutes({ ...shared, sessions, pages, ways, oidc });
  return { sessions, fleets, pages, routes };
}

function isProbe({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  return (method === 'GET' || method === 'HEAD') && PROBES.has(url);
}
