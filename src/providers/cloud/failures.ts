/** Converts what went wrong with a request to a cloud to an error of a provider. Pure. */
import { systemCode } from '../../os/errors.ts';
import { describeNetworkError } from '../../os/net/network-errors.ts';
import { readRetryAfterMs } from '../../os/net/retry-after.ts';
import { ProviderError, type ProviderErrorCode } from '../contract.ts';

/** Tells what a lost answer means for a call: Ambiguous where the request may have created something. */
export type LostAnswer = 'Ambiguous' | 'Retryable';

/** Holds an answer that reports an error. */
export interface FailedAnswer {
  readonly status: number;
  /** The code of the error, as the cloud names it. */
  readonly code: string;
  readonly message: string;
  /** The header Retry-After. */
  readonly retryAfter?: string | null | undefined;
}

export interface AnswerRules {
  /** The meaning of the codes of this cloud. The first that matches wins; without one the HTTP status decides. */
  readonly codes: readonly (readonly [pattern: RegExp, means: ProviderErrorCode])[];
  readonly lost: LostAnswer;
  readonly now: Date;
}

/** Codes of Node for requests that were not sent. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EMFILE',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const MAX_MESSAGE = 400;
/** A day: no cloud asks for more. */
const MAX_WAIT_SECONDS = 86_400;

export function toAnswerError(answer: FailedAnswer, { codes, lost, now }: AnswerRules): ProviderError {
  const { status, code, retryAfter } = answer;
  const known = codes.find(([pattern]) => pattern.test(code))?.[1];
  const waitMs = readRetryAfterMs(retryAfter, now);
  const waitSeconds = waitMs === undefined ? undefined : Math.min(Math.ceil(waitMs / 1000), MAX_WAIT_SECONDS);
  return new ProviderError(known ?? codeOfStatus(status, lost), shortMessage(`${code}: ${answer.message}`), {
    ...reasonOf(code),
    ...(waitSeconds === undefined ? {} : { retryAfterSeconds: waitSeconds }),
  });
}

/** Returns Retryable for a request that was never sent. Any other may have reached the cloud. */
export function toNetworkError(error: unknown, lost: LostAnswer): ProviderError {
  const { kind, message, code } = describeNetworkError(error);
  const wasSent = kind !== 'certificate' && !NOT_SENT.has(code ?? systemCode(error) ?? '');
  return new ProviderError(wasSent ? lost : 'Retryable', shortMessage(message), { reason: 'Unreachable' });
}

const STATUS: Readonly<Record<number, ProviderErrorCode>> = {
  401: 'Auth',
  403: 'Auth',
  404: 'NotFound',
  409: 'Retryable',
  410: 'NotFound',
  429: 'Retryable',
};

function codeOfStatus(status: number, lost: LostAnswer): ProviderErrorCode {
  const isRefusal = status >= 400 && status < 500 && status !== 408;
  // A server that failed may have done it.
  return STATUS[status] ?? (isRefusal ? 'Terminal' : lost);
}

/** Codes have dots, which reasons of conditions must not have. */
function reasonOf(code: string): { readonly reason?: string } {
  const reason = code.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 100);
  return /^[A-Za-z]/.test(reason) ? { reason } : {};
}

/** Clouds add encoded texts of a thousand characters, which fill conditions. */
function shortMessage(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_MESSAGE ? line : `${line.slice(0, MAX_MESSAGE)}…`;
}
