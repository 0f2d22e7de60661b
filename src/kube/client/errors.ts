/**
 * The only error of this layer. Code may branch on `code` only, which tells what a caller can do about it: messages
 * are for people.
 */
export type KubeErrorCode =
  | 'Unreachable' // no connection, reset, or cut off: the server may or may not have handled the request
  | 'Timeout' // no complete answer within the time limit: it may have been handled, too
  | 'Aborted' // the caller aborted it, or a fence stopped it
  | 'BadAnswer' // an answer that violates the API: not JSON, wrong kind, an empty list body
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict' // resourceVersion, precondition, or a field of another manager
  | 'Gone' // watch or page too old: list again
  | 'Invalid' // 400 or 422: never succeeds unchanged
  | 'TooManyRequests'
  | 'ServerError' // 5xx
  | 'Credentials' // our credentials cannot be read: file, exec plug-in, certificate
  | 'Config'; // the kubeconfig is invalid

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The cause in the answer when a PodDisruptionBudget denies an eviction. */
export function isDisruptionBudget({ reason }: StatusCause): boolean {
  return reason === 'DisruptionBudget';
}

export interface KubeErrorDetails {
  readonly status?: number;
  /** `reason` of the Status that the server sent. */
  readonly reason?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: KubeErrorCode;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: KubeErrorCode, message: string, details: KubeErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.reason = details.reason;
    this.causes = details.causes ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export function isKubeError(error: unknown, ...codes: KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
}

/** Resolves to undefined when the server answers that the object does not exist. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}
