/**
 * The port to an API server: one HTTP exchange. The implementation (https.ts) handles authentication, certificates and
 * their reload. Retries belong to the callers.
 */
import type { Impersonation } from '../auth/credentials.ts';

export interface Transport {
  /** Resolves with any status of the server; rejects with a KubeError only when there was no complete answer. */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Resolves when the headers have arrived. When the body is cut off, its iteration rejects. */
  stream(request: HttpRequest): Promise<HttpStream>;
  close(): Promise<void>;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path of the API, without the query: /api/v1/nodes. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /**
   * Called before a connection is requested for it, and again when that is ready, immediately before the request is sent.
   * Throws a KubeError to stop it: then nothing is sent.
   */
  readonly beforeSend?: () => void;
  /** The user as whom the server carries it out. Takes the place of every user that the credentials impersonate. */
  readonly impersonate?: Impersonation;
  /** Limit for the complete answer (request) or between two chunks of it (stream). */
  readonly timeoutMs?: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}
