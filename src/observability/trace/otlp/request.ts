/**
 * Encodes spans as a request of OTLP over HTTP in JSON: names in camelCase, IDs in hexadecimal, times as text of nanoseconds. Pure.
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
import { isRecord, parseRecord } from '../../../kube/objects/json.ts';
import type { Span, SpanEvent } from '../spans.ts';
import type { SpanContext, TraceAttributes } from '../trace.ts';

export interface OtlpSource {
  /** Describes this process: `service.name` and others. */
  readonly resource: TraceAttributes;
  readonly version: string;
}

export function otlpRequest(spans: readonly Span[], { resource, version }: OtlpSource): string {
  const scopeSpans = [{ scope: { name: 'kubenode', version }, spans: spans.map(otlpSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans }] });
}

/** SPAN_KIND_INTERNAL. */
const INTERNAL = 1;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

function otlpSpan(span: Span): unknown {
  const { traceId, spanId, parentSpanId, name, startMs, endMs, attributes, events, links } = span;
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: keyValues(attributes),
    events: events.map(otlpEvent),
    links: links.map(otlpLink),
    status: statusOf(span),
  };
}

function statusOf({ error, isOk }: Span): unknown {
  if (error !== undefined) return { code: STATUS_ERROR, message: error };
  return isOk ? { code: STATUS_OK } : {};
}

function otlpEvent({ name, atMs, attributes }: SpanEvent): unknown {
  return { timeUnixNano: nanoseconds(atMs), name, attributes: keyValues(attributes) };
}

function otlpLink({ traceId, spanId }: SpanContext): unknown {
  return { traceId, spanId, attributes: [] };
}

/** A number of JSON has 53 bits, and these need 61. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}

function keyValues(attributes: TraceAttributes): readonly unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: string | number | boolean): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Reads how many spans the collector refused of a request that it took. An answer that is not JSON refused none. */
export function rejectedSpans(body: string): number {
  const partial = parseRecord(body)?.['partialSuccess'];
  const rejected = isRecord(partial) ? Number(partial['rejectedSpans'] ?? 0) : 0;
  return Number.isFinite(rejected) ? rejected : 0;
}
