/**
 * Makes spans of a trace. The times are those of several clocks, and some are missing: no span ends before it begins, and each is within the
 * span that it is a part of. Pure.
 */
import { optional } from '../../kube/objects/optional.ts';
import {
  type SpanContext,
  spanIdOf,
  TIME_ADJUSTED,
  type Trace,
  type TraceAttributes,
  type TraceStep,
} from './trace.ts';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: TraceAttributes;
  readonly error?: string;
  readonly isOk: boolean;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanContext[];
}

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: TraceAttributes;
}

interface Bounds {
  readonly startMs: number;
  readonly endMs: number;
}

/** Set where the end was not recorded: the span ends with the one of which it is a part. */
const NO_END = 'kubenode.end_unknown';

/** The parent comes before its parts. Empty when no time is known. */
export function spansOf({ traceId, root: recorded, parentSpanId, links = [] }: Trace): readonly Span[] {
  const root = startedBeforeItsEnd(recorded);
  const times = timesWithin(root);
  if (times.length === 0) return [];
  const startMs = timeOf(root.startedAt) ?? Math.min(...times);
  const bounds = { startMs, endMs: Math.max(startMs, timeOf(root.endedAt) ?? Math.max(...times)) };
  const [first, ...others] = spansWithin(root, bounds, { traceId, path: [], parentSpanId });
  return first ? [{ ...first, links }, ...others] : [];
}

/** A start after the end is that of a clock that is ahead: it would move all parts to one moment. The first time of the parts is taken. */
function startedBeforeItsEnd(root: TraceStep): TraceStep {
  const [start, end] = [timeOf(root.startedAt), timeOf(root.endedAt)];
  if (start === undefined || end === undefined || start <= end) return root;
  const { startedAt: _, ...others } = root;
  return { ...others, attributes: { ...root.attributes, [TIME_ADJUSTED]: true } };
}

interface Place {
  readonly traceId: string;
  /** The keys of the steps above. */
  readonly path: readonly string[];
  readonly parentSpanId: string | undefined;
}

/** A step without any time has no span: it has not begun, and neither have its parts. */
function spansWithin(
  step: TraceStep,
  within: Bounds,
  { traceId, path, parentSpanId }: Place,
): readonly Span[] {
  const own = boundsOf(step, within);
  if (!own) return [];
  const ownPath = [...path, step.key];
  const spanId = spanIdOf(traceId, ownPath);
  const { name, outcome, events = [], steps = [] } = step;
  const span: Span = {
    traceId,
    spanId,
    ...optional('parentSpanId', parentSpanId),
    name,
    startMs: own.startMs,
    endMs: own.endMs,
    attributes: { ...step.attributes, ...own.notes, ...errorType(step) },
    ...optional('error', outcome === 'Error' ? errorText(step) : undefined),
    isOk: outcome === 'Ok',
    events: events.flatMap(({ name: what, at, attributes = {} }) => {
      const atMs = timeOf(at);
      return atMs === undefined ? [] : [{ name: what, atMs: clamp(atMs, own), attributes }];
    }),
    links: [],
  };
  const below = { traceId, path: ownPath, parentSpanId: spanId };
  return [span, ...steps.flatMap((each) => spansWithin(each, own, below))];
}

interface OwnBounds extends Bounds {
  readonly notes: TraceAttributes;
}

function boundsOf(step: TraceStep, within: Bounds): OwnBounds | undefined {
  const start = startOf(step);
  if (start === undefined) return undefined;
  const end = timeOf(step.endedAt);
  const startMs = clamp(start, within);
  if (end === undefined) {
    return { startMs, endMs: within.endMs, notes: { ...notes(startMs !== start), [NO_END]: true } };
  }
  const endMs = clamp(end, { startMs, endMs: within.endMs });
  return { startMs, endMs, notes: notes(startMs !== start || endMs !== end) };
}

function notes(isAdjusted: boolean): TraceAttributes {
  return isAdjusted ? { [TIME_ADJUSTED]: true } : {};
}

/** Without a start, a step begins with the first time of it and its parts. */
function startOf(step: TraceStep): number | undefined {
  const start = timeOf(step.startedAt);
  if (start !== undefined) return start;
  const times = timesWithin(step);
  return times.length > 0 ? Math.min(...times) : undefined;
}

function timesWithin({ startedAt, endedAt, steps = [] }: TraceStep): readonly number[] {
  const own = [timeOf(startedAt), timeOf(endedAt)].flatMap((each) => each ?? []);
  return [...own, ...steps.flatMap(timesWithin)];
}

/** A text that cannot be parsed counts as missing. */
function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function clamp(ms: number, { startMs, endMs }: Bounds): number {
  return Math.min(Math.max(ms, startMs), endMs);
}

function errorType({ outcome, reason, state }: TraceStep): TraceAttributes {
  return outcome === 'Error' ? { 'error.type': reason ?? state ?? 'Failed' } : {};
}

function errorText({ reason, because, state = 'Failed' }: TraceStep): string {
  const text = [reason, because].filter(Boolean).join(': ');
  return text === '' ? state : text;
}
