/**
 * Exchanges the key of a GitHub App for a token of one installation: builds the request, and explains the answer. Pure.
 * See https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app.
 */
import { sign } from 'node:crypto';
import { parseRecord, textAt } from '../../../kube/objects/json.ts';
import type { GitHostProject } from '../git-host.ts';
import { github } from '../hosts/github.ts';
import { detailsOf, type HostTask, type SendFailure, sendFailure } from '../outcome.ts';
import type { HostAnswer, HostRequest } from '../send.ts';
import { type AppCredential, TOKEN } from './credential.ts';

export interface InstallationToken {
  readonly token: string;
  /** How long the host accepts it, counted from the answer. */
  readonly lifetimeMs: number;
}

/** The JWT is accepted although our clock is ahead of that of the host by less than this. */
const SKEW_SECONDS = 60;
/** GitHub refuses more than ten minutes. The JWT is accepted although our clock is behind that of the host by less than this. */
const VALID_SECONDS = 300;

/** Returns the proof that the sender has the key of the App. */
export function appJwt({ appID, privateKey }: AppCredential, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000);
  const claims = { iat: seconds - SKEW_SECONDS, exp: seconds + VALID_SECONDS, iss: appID };
  const signed = [{ alg: 'RS256', typ: 'JWT' }, claims].map(encode).join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

export function installationTokenRequest(
  { base }: Pick<GitHostProject, 'base'>,
  app: AppCredential,
  now: Date,
): HostRequest {
  const url = `${github.apiUrl(base)}/app/installations/${app.installationID}/access_tokens`;
  return github.request(appJwt(app, now), { method: 'POST', url });
}

/** Describes the request for a token. */
export const TOKEN_TASK: HostTask = {
  act: 'get tokens',
  what: 'the request for a token of the GitHub App',
  retry: 'asks again for a token',
  permission: 'access to the repository',
  isAccepted: (answer) => answer.status === 201 && textAt(parseRecord(answer.body), 'token') !== undefined,
};

export interface TokenQuestion {
  readonly project: GitHostProject;
  readonly app: AppCredential;
  readonly now: Date;
}

/** Reads the token of an answer, or why there is none. No message contains the token, the key or the JWT. */
export function readInstallationToken(
  answer: HostAnswer,
  { project, app, now }: TokenQuestion,
): InstallationToken | SendFailure {
  const failure = sendFailure(answer, project, { token: NEVER_QUOTED, now, task: TOKEN_TASK });
  if (failure) {
    return failure.isTemporary ? failure : { ...failure, ...refusalOf(answer, { project, app, now }) };
  }
  const body = parseRecord(answer.body);
  const token = textAt(body, 'token') ?? '';
  const lifetimeMs = lifetimeOf(textAt(body, 'expires_at'), hostTime(answer) ?? now);
  if (TOKEN.test(token) && lifetimeMs > 0) return { token, lifetimeMs };
  const message = `${project.base} answered with a token that cannot be used, or has ended already. Check that spec.source.gitHost.url is the address of a GitHub`;
  return { reason: 'Refused', message, isTemporary: false };
}

/** The answer to a JWT does not repeat it, and has no token when it is an error. */
const NEVER_QUOTED = '\0';

/** GitHub issues tokens for an hour. A time that is missing counts as ended. */
const MAX_LIFETIME_MS = 3_600_000;

function lifetimeOf(expiresAt: string | undefined, hostNow: Date): number {
  const endMs = Date.parse(expiresAt ?? '');
  return Number.isNaN(endMs) ? 0 : Math.min(MAX_LIFETIME_MS, endMs - hostNow.getTime());
}

/** Returns the time of the host: its clock decides when a token ends. */
function hostTime({ headers: { date } }: HostAnswer): Date | undefined {
  const time = new Date(typeof date === 'string' ? date : Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function refusalOf(answer: HostAnswer, question: TokenQuestion): Partial<Pick<SendFailure, 'message'>> {
  const { base } = question.project;
  const { appID, installationID } = question.app;
  const app = `GitHub App ${appID}`;
  const details = detailsOf(answer, NEVER_QUOTED);
  switch (answer.status) {
    case 401:
      return {
        message: `${base} refuses the key of ${app}${details}. ${clockHint(answer, question.now)}Generate a private key for it, and put it into the key privateKey of its Secret`,
      };
    case 403:
      return {
        message: `${base} gives ${app} no token for its installation ${installationID}${details}. If the installation is suspended, ask its owner to unsuspend it`,
      };
    case 404:
      return {
        message: `${base} has no installation ${installationID} of ${app}${details}. If it was removed, install the App again, and put the new number into the key installationID of its Secret`,
      };
    default:
      return {};
  }
}

/** The host refuses a JWT from the future, and one that has ended. */
function clockHint(answer: HostAnswer, now: Date): string {
  const host = hostTime(answer);
  const seconds = host ? Math.round((now.getTime() - host.getTime()) / 1000) : 0;
  if (Math.abs(seconds) < SKEW_SECONDS) return '';
  const direction = seconds > 0 ? 'ahead of' : 'behind';
  return `The clock of sync is ${Math.abs(seconds)} s ${direction} that of the host: correct it. Otherwise: `;
}
