/**
 * Exports the traces of changes and repairs that have ended, each at least once. What was exported is remembered by this process alone: one that
 * starts exports what ended lately again, with the same IDs.
 */
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import type { Sender, SendOutcome } from '../../../os/net/sender.ts';
import { type EndedTrace, isExportable } from '../sources/ended.ts';
import { spansOf } from '../spans.ts';
import type { TraceMetrics } from './metrics.ts';
import { otlpRequest, rejectedSpans } from './request.ts';
import type { TraceSettings } from './settings.ts';

export interface TraceExporterOptions {
  readonly settings: TraceSettings;
  readonly version: string;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: TraceMetrics;
}

export interface TraceExporter {
  /**
   * Sends those that are not exported yet. Resolves with the milliseconds after which the rest is sent again; undefined when none is left. Rejects
   * only when it is aborted.
   */
  export(ended: readonly EndedTrace[], signal: AbortSignal): Promise<number | undefined>;
}

/** A fleet of 10,000 machines has far fewer traces in an hour. Beyond it the oldest may be exported twice. */
const MAX_REMEMBERED = 20_000;

export function createTraceExporter(options: TraceExporterOptions): TraceExporter {
  const { settings, version, sender, clock, log, metrics } = options;
  const exported = new Map<string, EndedTrace['endedAt']>();
  /** The traces that are sent again. */
  const waiting = new Map<string, Pick<EndedTrace, 'endedAt' | 'what'>>();
  return { export: exportAll };

  async function exportAll(ended: readonly EndedTrace[], signal: AbortSignal): Promise<number | undefined> {
    forgetOld();
    const due = ended.filter((each) => !exported.has(each.key) && isExportable(each, clock.now()));
    const retries: number[] = [];
    for (const each of due) {
      // oxlint-disable-next-line no-await-in-loop -- a collector that does not answer is left alone after the first
      const retryMs = await exportOne(each, signal);
      if (retryMs !== undefined) retries.push(retryMs);
    }
    return retries.length === 0 ? undefined : Math.min(...retries);
  }

  async function exportOne(ended: EndedTrace, signal: AbortSignal): Promise<number | undefined> {
    const { key, what, endedAt, trace } = ended;
    const result = await sender.send(async () => {
      const body = otlpRequest(spansOf(trace()), { resource: settings.resource, version });
      return { url: settings.url, headers: { ...HEADERS, ...settings.headers }, body };
    }, signal);
    if (result.outcome === 'Postponed' || result.outcome === 'Failed') {
      waiting.set(key, { what, endedAt });
      if (result.outcome === 'Failed') report(ended, 'Failed', result.because);
      return result.retryMs;
    }
    waiting.delete(key);
    exported.set(key, endedAt);
    const refusal = refusalOf(result);
    report(ended, refusal === undefined ? 'Exported' : 'Refused', refusal);
    return undefined;
  }

  function report(
    { what, trace }: EndedTrace,
    outcome: 'Exported' | 'Failed' | 'Refused',
    because?: string,
  ): void {
    metrics.ended(what, outcome);
    if (because === undefined) return;
    log.warn('trace not exported', { what, trace: trace().traceId, outcome, because });
  }

  function forgetOld(): void {
    const now = clock.now();
    for (const [key, each] of waiting) {
      if (isExportable(each, now)) continue;
      waiting.delete(key);
      metrics.ended(each.what, 'Dropped');
      log.warn('trace dropped', { what: each.what, key, endedAt: each.endedAt });
    }
    for (const [key, endedAt] of exported) {
      if (!isExportable({ endedAt }, now) || exported.size > MAX_REMEMBERED) exported.delete(key);
    }
  }
}

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'kubenode' } as const;

/** A collector may take a request and refuse spans of it: they are not sent again. */
function refusalOf(result: Extract<SendOutcome, { outcome: 'Delivered' | 'Refused' }>): string | undefined {
  if (result.outcome === 'Refused') return result.because;
  const rejected = rejectedSpans(result.body);
  return rejected > 0 ? `it refused ${rejected} spans` : undefined;
}

/** The statuses after which the specification of OTLP permits another request with the same spans. */
const RETRIED: readonly number[] = [429, 502, 503, 504];

export function isRefusedExport(status: number): boolean {
  return !RETRIED.includes(status);
}
