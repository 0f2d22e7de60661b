/**
 * Signs in to a BMC for a few requests. A BMC has few sessions, some of them 4, and keeps them for minutes: each one is closed, also after a
 * failure. A service without sessions gets the password with each request, as the standard demands of all.
 */
import { textAt } from '../../kube/objects/json.ts';
import { ProviderError } from '../contract.ts';
import { answerError, pathIn } from './answers.ts';
import { type BmcAnswer, type BmcEndpoint, type BmcRequest, sendToBmc } from './connection.ts';

export interface BmcCredentials {
  readonly username: string;
  readonly password: string;
}

/** Sends a request that is signed in. Rejects unless the answer is a success; `what` completes the error. */
export type BmcCall = (what: string, request: BmcRequest) => Promise<BmcAnswer>;

/** Time to close a session after the caller gave up. */
const LOGOUT_MS = 5000;

export async function withSession<T>(
  endpoint: BmcEndpoint,
  credentials: BmcCredentials,
  work: (call: BmcCall) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const root = await sendChecked(
    endpoint,
    'read the service',
    { method: 'GET', path: '/redfish/v1/' },
    signal,
  );
  const sessions = pathIn(textAt(root.body, 'Links', 'Sessions', '@odata.id'));
  const session = sessions === undefined ? undefined : await signIn(endpoint, sessions, credentials, signal);
  const headers = session ? { 'x-auth-token': session.token } : { authorization: basic(credentials) };
  try {
    return await work((what, request) =>
      sendChecked(endpoint, what, { ...request, headers: { ...request.headers, ...headers } }, signal),
    );
  } finally {
    if (session?.path !== undefined) await signOut(endpoint, session.path, headers);
  }
}

interface Session {
  readonly token: string;
  /** Absent: the service did not tell, and the session ends by its time-out. */
  readonly path: string | undefined;
}

async function signIn(
  endpoint: BmcEndpoint,
  path: string,
  { username, password }: BmcCredentials,
  signal: AbortSignal,
): Promise<Session> {
  const body = { UserName: username, Password: password };
  const answer = await sendChecked(endpoint, 'sign in', { method: 'POST', path, body }, signal);
  const token = answer.headers['x-auth-token'];
  if (typeof token !== 'string' || token === '') {
    throw new ProviderError('Terminal', 'sign in: the BMC answered without X-Auth-Token', {
      reason: 'InvalidAnswer',
    });
  }
  return { token, path: pathIn(answer.headers.location ?? textAt(answer.body, '@odata.id')) };
}

/** Closes the session. A failure is ignored: the work is done, and the session ends by its time-out. */
async function signOut(
  endpoint: BmcEndpoint,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const timeoutMs = Math.min(endpoint.timeoutMs, LOGOUT_MS);
  const own = new AbortController().signal;
  await sendToBmc({ ...endpoint, timeoutMs }, { method: 'DELETE', path, headers }, own).catch(
    () => undefined,
  );
}

async function sendChecked(
  endpoint: BmcEndpoint,
  what: string,
  request: BmcRequest,
  signal: AbortSignal,
): Promise<BmcAnswer> {
  const answer = await sendToBmc(endpoint, request, signal);
  const { status, headers, body } = answer;
  const error = answerError(what, { status, body, retryAfter: headers['retry-after'] });
  if (error) throw error;
  return answer;
}

function basic({ username, password }: BmcCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
