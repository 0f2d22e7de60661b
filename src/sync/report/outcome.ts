/** Explains what the answer of a git host means. Pure. */
import { parseRecord } from '../../kube/objects/json.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import { describeNetworkError } from '../../os/net/network-errors.ts';
import { readRetryAfterMs } from '../../os/net/retry-after.ts';
import type { GitHostProject } from './git-host.ts';
import { GIT_HOST_ADAPTERS } from './hosts/adapters.ts';
import type { HostAnswer } from './send.ts';

export interface SendFailure {
  readonly reason:
    | 'RateLimited'
    | 'Unreachable'
    | 'TokenRefused'
    | 'Forbidden'
    | 'NotFound'
    | 'Moved'
    | 'Refused'
    | 'NotPlanned';
  /** The message has a hint, and never the token. */
  readonly message: string;
  /** It may end without a person. */
  readonly isTemporary: boolean;
  readonly retryAfterSeconds?: number;
}

/** The host did not do what it was asked for, or gave no token for it. */
export class HostCallError extends Error {
  override readonly name = 'HostCallError';
  readonly failure: SendFailure;

  constructor(failure: SendFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Describes what the host was asked for. */
export interface HostTask {
  /** Completes "the token may not …". */
  readonly act: string;
  /** Completes "the host does not accept …". */
  readonly what: string;
  /** Completes "Sync …" after a failure that may end without a person. */
  readonly retry: string;
  /** The permission that the token needs. */
  readonly permission: string;
  readonly isAccepted: (answer: HostAnswer) => boolean;
  /** The field that names the Secret of the token. Default: `statusCredentialsRef`. */
  readonly secret?: string;
}

/** Returns the task of setting a commit status. A login page also answers 200. */
export function statusTask({ type }: GitHostProject): HostTask {
  const adapter = GIT_HOST_ADAPTERS[type];
  return {
    act: 'write commit statuses',
    what: 'the status',
    retry: 'sends the status again',
    permission: adapter.permission,
    isAccepted: (answer) =>
      adapter.hasState(answer) || (isDone(answer) && parseRecord(answer.body) !== undefined),
  };
}

export function isDone({ status }: HostAnswer): boolean {
  return status === 200 || status === 201;
}

/** Returns undefined if the host did what it was asked for. */
export function sendFailure(
  answer: HostAnswer,
  project: GitHostProject,
  { token, now, task }: SendFailureContext,
): SendFailure | undefined {
  if (task.isAccepted(answer)) return undefined;
  const details = detailsOf(answer, token);
  const { base } = project;
  if (isRateLimit(answer)) {
    const message = `${base} limits the rate of requests${details}`;
    return { ...temporary('RateLimited', message, task), ...retryAfterOf(answer, now) };
  }
  if (answer.status >= 500 || answer.status === 408) {
    const message = `${base} failed${details}`;
    return { ...temporary('Unreachable', message, task), ...retryAfterOf(answer, now) };
  }
  const [reason, message] = refusalOf(answer, { project, task, details });
  return { reason, message, isTemporary: false };
}

interface SendFailureContext {
  readonly token: string;
  readonly now: Date;
  readonly task: HostTask;
}

/** Explains why the host gave no answer. */
export function networkFailure(error: unknown, project: GitHostProject, task: HostTask): SendFailure {
  const { kind, message } = describeNetworkError(error);
  const hint = kind === 'certificate' ? '. Set spec.source.caRef if its authority is not a public one' : '';
  return temporary('Unreachable', `no answer from ${project.base}: ${message}${hint}`, task);
}

function temporary(reason: SendFailure['reason'], message: string, { retry }: HostTask): SendFailure {
  return { reason, message: `${message}. Sync ${retry}`, isTemporary: true };
}

interface Refusal {
  readonly project: GitHostProject;
  readonly task: HostTask;
  readonly details: string;
}

function refusalOf(
  answer: HostAnswer,
  { project: { base, path }, task, details }: Refusal,
): readonly [reason: SendFailure['reason'], message: string] {
  const { status } = answer;
  const { act, what, permission, secret = 'statusCredentialsRef' } = task;
  if (status >= 300 && status < 400) {
    return [
      'Moved',
      `${base} redirects to ${targetOf(answer)}: the repository or the host has moved. Set spec.source.repository to the new URL; the token is sent nowhere else`,
    ];
  }
  switch (status) {
    case 401:
      return [
        'TokenRefused',
        `${base} refuses the token${details}. Put a token that is valid into the Secret of spec.source.${secret}`,
      ];
    case 403:
      return ['Forbidden', `the token may not ${act} of ${path} at ${base}${details}. Give it ${permission}`];
    case 404:
      return [
        'NotFound',
        `${base} has no repository ${path}, or the token may not see it${details}. If it was renamed, set spec.source.repository; otherwise give the token ${permission}`,
      ];
    default:
      return [
        'Refused',
        `${base} does not accept ${what}${details}. Check that spec.source.gitHost.type is its API`,
      ];
  }
}

/** GitHub answers 403 to both: to a token without the right, and to one that asks too often. */
function isRateLimit({ status, headers, body }: HostAnswer): boolean {
  if (status !== 403) return status === 429;
  const isLimited = headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0';
  return isLimited || /rate limit/i.test(body);
}

/** A host that asks for more is asked again after an hour: the limits of all three end within that. */
const MAX_RETRY_SECONDS = 3600;

function retryAfterOf({ headers }: HostAnswer, now: Date): { readonly retryAfterSeconds?: number } {
  const asked = readRetryAfterMs(textOf(headers['retry-after']), now) ?? untilReset(headers, now);
  return asked === undefined
    ? {}
    : { retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, Math.ceil(asked / 1000)) };
}

/** Returns the time until the limit of GitHub starts over, which the header names in seconds since 1970. */
function untilReset(headers: HostAnswer['headers'], now: Date): number | undefined {
  const reset = textOf(headers['x-ratelimit-reset']) ?? '';
  if (headers['x-ratelimit-remaining'] !== '0' || !/^\d{1,12}$/.test(reset)) return undefined;
  return Math.max(0, Number(reset) * 1000 - now.getTime());
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/** The query of a redirect may contain a signature, and its user a password. */
function targetOf({ headers }: HostAnswer): string {
  const target = URL.parse(textOf(headers['location']) ?? '');
  return target ? printed(`${target.protocol}//${target.host}${target.pathname}`) : 'another address';
}

/** Returns the status and the message of the host, which could repeat the token. */
export function detailsOf({ status, body }: HostAnswer, token: string): string {
  const { message, error } = parseRecord(body) ?? {};
  const text = [message, error].find((each) => typeof each === 'string' && each !== '');
  const quoted =
    typeof text === 'string' ? `, ${JSON.stringify(printed(text.replaceAll(token, '***')))}` : '';
  return ` (HTTP ${status}${quoted})`;
}

function printed(text: string): string {
  return truncate(printableLine(text), 200);
}
