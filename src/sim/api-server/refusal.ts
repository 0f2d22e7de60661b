/** A Status that the in-memory API server answers instead of an object. */
import type { HttpResponse } from '../../kube/transport/transport.ts';

export class ApiRefusal extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly object[];
  readonly retryAfterSeconds: number | undefined;

  // oxlint-disable-next-line eslint/max-params -- code, reason, message, as a Status has them
  constructor(
    code: number,
    reason: string,
    message: string,
    causes: readonly object[] = [],
    retryAfterSeconds?: number,
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  response(): HttpResponse {
    const { code, reason, message, causes, retryAfterSeconds } = this;
    const details = { causes, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code, details };
    const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    return {
      status: code,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(status),
    };
  }
}
