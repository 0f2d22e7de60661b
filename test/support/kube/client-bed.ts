/** A client over a transport with fixed answers, and builders for answers of an API server. */
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError, KubeError } from '../../../src/kube/client/errors.ts';
import type { CallReport } from '../../../src/kube/client/request.ts';
import { createRestClient } from '../../../src/kube/client/rest-client.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import type { CallOutcome, Limiter } from '../../../src/kube/transport/limiter.ts';
import type { HttpRequest, HttpResponse, Transport } from '../../../src/kube/transport/transport.ts';
import { virtualClock } from '../virtual-clock.ts';

export const SERVER = 'https://cluster.example:6443';
export const NODES: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
export const MACHINES: Resource = {
  group: 'kubenode.dev',
  version: 'v1alpha1',
  kind: 'Machine',
  plural: 'machines',
  namespaced: true,
};
export const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a', uid: 'u', resourceVersion: '5' },
};
export const MACHINE = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Machine',
  metadata: { name: 'm', namespace: 'x' },
};
export const APPLY = { fieldManager: 'me' };

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface ClientBed {
  readonly client: Client;
  readonly sent: HttpRequest[];
  readonly reports: CallReport[];
  /** The outcome of each call, as reported to the limiter. */
  readonly outcomes: CallOutcome[];
}

/** Returns the answers in this order and repeats the last one. A string is a raw body, an error is a network error. */
export function createClientBed(...answers: readonly (Answer | string | KubeError)[]): ClientBed {
  const sent: HttpRequest[] = [];
  const reports: CallReport[] = [];
  const outcomes: CallOutcome[] = [];
  const release = (outcome: CallOutcome): void => void outcomes.push(outcome);
  const limiter: Limiter = { acquire: () => Promise.resolve(release), inFlightLimit: () => 1 };
  const next = (request: HttpRequest): HttpResponse => {
    sent.push(request);
    const answer = answers[Math.min(sent.length, answers.length) - 1] ?? '';
    if (answer instanceof KubeError) throw answer;
    if (typeof answer === 'string') return { status: 200, headers: {}, body: answer };
    return responseOf(answer);
  };
  const transport: Transport = {
    request: async (request) => next(request),
    stream: async (request) => {
      const response = next(request);
      return { ...response, body: bytes(response.body) };
    },
    close: () => Promise.resolve(),
  };
  const onCall = (report: CallReport): void => void reports.push(report);
  const client = createRestClient(transport, { server: SERVER, clock: virtualClock(), onCall, limiter });
  return { client, sent, reports, outcomes };
}

export function responseOf({ status: code = 200, headers = {}, body }: Answer): HttpResponse {
  return { status: code, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

export async function failing(outcome: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await outcome.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (isKubeError(error)) return error;
  throw new Error('expected a KubeError', { cause: error });
}

export function status(code: number, reason: string, more: object = {}): Answer {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: 'words',
    reason,
    code,
    ...more,
  };
  return { status: code, body };
}

export function listAnswer(items: readonly unknown[], metadata: object = { resourceVersion: '9' }): Answer {
  return { body: { kind: 'NodeList', apiVersion: 'v1', metadata, items } };
}
