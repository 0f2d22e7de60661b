/** A collector of traces on this computer, which takes OTLP over HTTP in JSON and answers with the status that a test sets. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface CollectedRequest {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly status: number;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly spans: readonly CollectedSpan[];
}

export interface TraceCollector {
  /** Of traces. */
  readonly url: string;
  /** Without the path of traces. */
  readonly endpoint: string;
  readonly requests: CollectedRequest[];
  /** The spans of the requests that were taken. */
  spans(): readonly CollectedSpan[];
  status: number;
  /** Whether requests are read and never answered. */
  hangs: boolean;
  /** Resolves with the next request. */
  arrived(): Promise<void>;
}

/** Until the test has ended, or for as long as `atEnd` decides. */
export async function startTraceCollector(
  atEnd: (stop: () => void) => void = onTestFinished,
): Promise<TraceCollector> {
  let next = Promise.withResolvers<void>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const collector: TraceCollector = {
    url: `${endpoint}/v1/traces`,
    endpoint,
    requests: [],
    spans: () => collector.requests.filter(({ status }) => status === 200).flatMap(({ spans }) => spans),
    status: 200,
    hangs: false,
    arrived: () => next.promise,
  };
  return collector;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { resource, spans } = readOtlp(await text(request));
    const { status } = collector;
    const { authorization, 'content-type': type } = request.headers;
    collector.requests.push({ path: request.url, authorization, type, status, resource, spans });
    next.resolve();
    next = Promise.withResolvers();
    if (!collector.hangs) response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  }
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpBody {
  readonly resourceSpans: readonly [
    {
      readonly resource: { readonly attributes: readonly KeyValue[] };
      readonly scopeSpans: readonly [
        { readonly spans: readonly (CollectedSpan & { readonly attributes: readonly KeyValue[] })[] },
      ];
    },
  ];
}

function readOtlp(body: string): Pick<CollectedRequest, 'resource' | 'spans'> {
  const [{ resource, scopeSpans }] = (JSON.parse(body) as OtlpBody).resourceSpans;
  const [{ spans }] = scopeSpans;
  return {
    resource: valuesOf(resource.attributes),
    spans: spans.map((span) => ({ ...span, attributes: valuesOf(span.attributes) })),
  };
}

function valuesOf(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
