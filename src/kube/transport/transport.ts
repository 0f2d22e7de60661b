/**
 * The port to an API server: one HTTP exchange. Implemented over undici for controllers and over node:https
 * for the agent; one contract suite runs over both. Authentication, CA and client certificates, and their
 * reload when they change, happen behind it; retries happen above it.
 */
export interface Transport {
  /** Resolves with any status the server answers; rejects with KubeError only when there was no whole answer. */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Resolves when the headers are there. A body that breaks off rejects in the middle of the iteration. */
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
  /** Called when all is ready and the bytes would leave now. Throws a KubeError to stop it: nothing is sent then. */
  readonly beforeSend?: () => void;
  /** Until the whole answer (request) or between two pieces of it (stream). */
  readonly timeoutMs?: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}
