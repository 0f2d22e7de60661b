/**
 * Asks the Prometheus of this process: one GET for each query, with a limit of time and size. The checks of rollouts and the
 * blockers of the Defender share it, so that both treat a bad answer alike. It only watches.
 */
import type { HttpAnswer } from '../../os/net/http-get.ts';
import { type AnswerLimit, answerInTime } from '../../os/net/timed-answer.ts';

/** One GET that does not follow redirects, and reads so much of the body. Rejects without an answer. */
export type HttpGet = (url: string, signal: AbortSignal, maxBytes?: number) => Promise<HttpAnswer>;

export interface PrometheusOptions extends AnswerLimit {
  readonly get: HttpGet;
  /** The server, as http://prometheus.monitoring:9090. Undefined: none is configured. */
  readonly prometheusUrl?: string;
}

export type QueryAnswer = { readonly body: string } | { readonly problem: string };

export interface Prometheus {
  /** Never rejects. */
  query(query: string): Promise<QueryAnswer>;
}

/** Prometheus runs 20 queries at once by default, and has others to answer. */
export const QUERIES_AT_ONCE = 3;

/** The times at which a query is evaluated, in seconds since 1970. */
export interface QueryRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

export interface PrometheusRanges {
  /** Never rejects. */
  queryRange(query: string, range: QueryRange): Promise<QueryAnswer>;
}

export function createPrometheus(options: PrometheusOptions): Prometheus & PrometheusRanges {
  const { get, prometheusUrl } = options;
  return {
    query: async (query) => await ask('query', { query }),
    queryRange: async (query, { from, to, step }) =>
      await ask('query_range', { query, start: String(from), end: String(to), step: String(step) }),
  };

  async function ask(path: string, asked: Readonly<Record<string, string>>): Promise<QueryAnswer> {
    if (prometheusUrl === undefined) {
      return { problem: 'no Prometheus is configured: start this program with --prometheus-url' };
    }
    const parameters = new URLSearchParams(asked);
    const url = `${prometheusUrl.replace(/\/$/, '')}/api/v1/${path}?${parameters.toString()}`;
    const found = await answerInTime(options, (signal) => get(url, signal));
    if ('problem' in found) return found;
    const { status, body } = found.answer;
    return status === 200 ? { body } : { problem: `Prometheus: expected status 200, got ${status}` };
  }
}
