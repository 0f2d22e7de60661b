/** Describes what the HTTP API answers when it does not decide. */
import { isKubeError } from '../../kube/client/errors.ts';

export interface ApiAnswer {
  readonly status: number;
  /** The body of the answer, which is sent as JSON. */
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ProblemReason =
  | 'AlreadyAnswered'
  | 'BodyInvalid'
  | 'BodyTooLarge'
  | 'Busy'
  | 'Forbidden'
  | 'InternalError'
  | 'MethodNotAllowed'
  | 'NotApprover'
  | 'NotFound'
  | 'NothingToApprove'
  | 'NotLeader'
  | 'ServerUnavailable'
  | 'SeveralWait'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'UnknownMachine';

const STATUS: Readonly<Record<ProblemReason, number>> = {
  AlreadyAnswered: 409,
  BodyInvalid: 400,
  BodyTooLarge: 413,
  Busy: 503,
  Forbidden: 403,
  InternalError: 500,
  MethodNotAllowed: 405,
  NotApprover: 403,
  NotFound: 404,
  NothingToApprove: 409,
  NotLeader: 503,
  ServerUnavailable: 503,
  SeveralWait: 409,
  TooManyRequests: 429,
  Unauthorized: 401,
  UnknownMachine: 404,
};

export interface ProblemDetails {
  readonly leader?: string | undefined;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** Ends a request that is not decided. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly reason: ProblemReason;
  readonly details: ProblemDetails;

  constructor(reason: ProblemReason, message: string, details: ProblemDetails = {}) {
    super(message, { cause: details.cause });
    this.reason = reason;
    this.details = details;
  }
}

/** Returns the answer to an error, which is never a grant. What failed inside is in the log, not in the answer. */
export function problemAnswer(error: unknown): ApiAnswer {
  const problem = asProblem(error);
  const { reason, message, details } = problem;
  const { leader, retryAfterSeconds } = details;
  const status = STATUS[reason];
  return {
    status,
    body: { reason, message, ...(leader === undefined ? {} : { leader }) },
    headers: {
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
  };
}

function asProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (isKubeError(error)) {
    const message = 'the API server did not answer: nothing was decided';
    return new HttpProblem('ServerUnavailable', message, { retryAfterSeconds: 5 });
  }
  return new HttpProblem('InternalError', 'internal error: nothing was decided');
}
