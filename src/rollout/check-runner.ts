/**
 * Runs the checks of a stage. Thin: one question, one answer, a time limit. An error, a timeout and no data are Unknown;
 * what that means for a soak is decided in gates.ts.
 */
import type { Check } from '../api/generated/types.ts';
import { listAt, valueAt } from '../kube/objects/json.ts';
import type { Clock } from '../os/clock.ts';
import type { CheckRun } from './gates.ts';

export interface CheckRunner {
  /** Never rejects. */
  run(check: Check, about: CheckSubject): Promise<Answer>;
}

export interface CheckSubject {
  readonly cluster: string;
  /** What was observed last; absent when nothing was. */
  readonly health: ObservedHealth | undefined;
}

export interface ObservedHealth {
  readonly answer: 'Settled' | 'Progressing' | 'Failed' | 'Unknown';
  readonly because: string;
}

export type Answer = Pick<CheckRun, 'result' | 'message'>;

export interface CheckOptions {
  readonly clock: Clock;
  /** One GET, without following redirects to elsewhere. Rejects when there is no answer. */
  readonly get: (url: string, signal: AbortSignal) => Promise<HttpAnswer>;
  /** Of the Prometheus that answers `promql`: http://prometheus.monitoring:9090. */
  readonly prometheusUrl?: string;
  readonly timeoutMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const TIMEOUT_MS = 10_000;

export function checkRunner(options: CheckOptions): CheckRunner {
  return { run };

  async function run(check: Check, about: CheckSubject): Promise<Answer> {
    if (check.builtin) return builtin(about.health);
    if (check.http) return withLimit((signal) => http(check.http, signal));
    if (check.promql) return withLimit((signal) => promql(check.promql, signal));
    return unknown(
      `check ${check.name} is of type cel, which sync cannot evaluate: use builtin, http or promql, or remove it`,
    );
  }

  async function http(question: Check['http'], signal: AbortSignal): Promise<Answer> {
    if (!question) return unknown('nothing is asked');
    const { status } = await options.get(question.url, signal);
    const said = `${question.url} answered ${status}, wanted ${question.expectStatus}`;
    return { result: status === question.expectStatus ? 'Passed' : 'Failed', message: said };
  }

  async function promql(question: Check['promql'], signal: AbortSignal): Promise<Answer> {
    if (!question) return unknown('nothing is asked');
    const { prometheusUrl } = options;
    if (prometheusUrl === undefined) {
      return unknown('no Prometheus is known: start sync with --prometheus-url');
    }
    const query = new URLSearchParams({ query: question.query });
    const { status, body } = await options.get(
      `${prometheusUrl.replace(/\/$/, '')}/api/v1/query?${query.toString()}`,
      signal,
    );
    if (status !== 200) return unknown(`Prometheus answered ${status}`);
    return judgeSample(body, question);
  }

  async function withLimit(ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { timeoutMs = TIMEOUT_MS, clock } = options;
    const end = new AbortController();
    const timer = new AbortController();
    const limit = clock.sleep(timeoutMs, timer.signal).then(
      () => unknown(`no answer within ${timeoutMs / 1000} s`),
      () => unknown('answered'),
    );
    try {
      return await Promise.race([ask(end.signal), limit]);
    } catch (error) {
      return unknown(error instanceof Error ? error.message : String(error));
    } finally {
      end.abort();
      timer.abort();
    }
  }
}

/** The cluster's own health, as it was seen last. */
function builtin(health: ObservedHealth | undefined): Answer {
  if (!health) return unknown('its health was not seen');
  if (health.answer === 'Settled') return { result: 'Passed', message: health.because };
  return { result: health.answer === 'Failed' ? 'Failed' : 'Unknown', message: health.because };
}

/** A scalar, or a vector of exactly one sample: several values have no one place within the bounds. */
export function judgeSample(
  body: string,
  { min, max }: { readonly min?: number; readonly max?: number },
): Answer {
  const value = sampleIn(body);
  if (value === undefined) return unknown('Prometheus gave no single value');
  if (Number.isNaN(value)) return unknown('Prometheus gave NaN');
  if (max !== undefined && value > max) return { result: 'Failed', message: `${value} is above ${max}` };
  if (min !== undefined && value < min) return { result: 'Failed', message: `${value} is below ${min}` };
  return { result: 'Passed', message: `${value} is within its bounds` };
}

function sampleIn(body: string): number | undefined {
  const answer = parsed(body);
  if (valueAt(answer, 'status') !== 'success') return undefined;
  const text = sampleText(answer);
  if (typeof text !== 'string' || text === '') return undefined;
  return Number(text.replace('Inf', 'Infinity'));
}

/** `[moment, "value"]` is a scalar; a vector is a list of samples that hold the same. */
function sampleText(answer: unknown): unknown {
  const result = listAt(answer, 'data', 'result');
  if (valueAt(answer, 'data', 'resultType') !== 'vector') return result[1];
  return result.length === 1 ? valueAt(result[0], 'value', 1) : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function unknown(message: string): Answer {
  return { result: 'Unknown', message };
}
