/** The Status that an API server sends with an error. */

export interface StatusOptions {
  readonly retryAfterSeconds?: number;
  /** Default: the message of an API server for that code. */
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly {
    readonly reason?: string;
    readonly message?: string;
    readonly field?: string;
  }[];
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export function statusObject(code: number, options: StatusOptions = {}): object {
  const { reason = REASONS[code] ?? 'Unknown', message = `the fault proxy answers ${code}` } = options;
  const { causes, retryAfterSeconds } = options;
  const details = { ...(causes && { causes }), ...(retryAfterSeconds && { retryAfterSeconds }) };
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return Object.keys(details).length > 0 ? { ...status, details } : status;
}
