/**
 * Runs one check: builtin health, HTTP or PromQL, with a time limit. Errors, timeouts and missing data are Unknown; gate.ts
 * decides what that means for a soak. I/O goes through the ports `get` and `clock`.
 */

import type { Check } from '../../api/generated/types.ts';
import { listAt, valueAt } from '../../kube/objects/json.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type { HttpAnswer } from '../../os/net/http-get.ts';
import type { CheckRun } from './gate.ts';

export interface CheckRunner {
  /** Never rejects. */
  run(check: Check, subject: CheckSubject): Promise<CheckAnswer>;
}

export interface CheckSubject {
  readonly cluster: string;
  /** The last observed health; undefined if there is none. */
  readonly health: ObservedHealth | undefined;
}

export interface ObservedHealth {
  readonly answer: 'Settled' | 'Progressing' | 'Failed' | 'Unknown';
  readonly because: string;
}

export type CheckAnswer = Pick<CheckRun, 'result' | 'message'>;

export interface CheckRunnerOptions {
  readonly clock: Clock;
  /** One GET that does not follow redirects. Rejects without an answer. */
  readonly get: (url: string, signal: AbortSignal) => Promise<HttpAnswer>;
  /** The Prometheus that evaluates `promql`, as http://prometheus.monitoring:9090. */
  readonly prometheusUrl?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

export function createCheckRunner(options: CheckRunnerOptions): CheckRunner {
  return { run };

  async function run({ name, builtin, http, promql }: Check, subject: CheckSubject): Promise<CheckAnswer> {
    if (builtin) return runBuiltin(subject.health);
    if (http) return withTimeout((signal) => runHTTP(http, signal));
    if (promql) return withTimeout((signal) => runPromQL(promql, signal));
    return unknown(`check ${name} cannot be evaluated: it has no type. Use builtin, http or promql`);
  }

  async function runHTTP({ url, expectStatus }: HTTPCheck, signal: AbortSignal): Promise<CheckAnswer> {
    const { status } = await options.get(url, signal);
    const message = `${url}: expected status ${expectStatus}, got ${status}`;
    return { result: status === expectStatus ? 'Passed' : 'Failed', message };
  }

  async function runPromQL(check: PromQLCheck, signal: AbortSignal): Promise<CheckAnswer> {
    const { prometheusUrl } = options;
    if (prometheusUrl === undefined) {
      return unknown('no Prometheus is configured: start sync with --prometheus-url');
    }
    const query = new URLSearchParams({ query: check.query });
    const { status, body } = await options.get(
      `${prometheusUrl.replace(/\/$/, '')}/api/v1/query?${query.toString()}`,
      signal,
    );
    if (status !== 200) return unknown(`Prometheus: expected status 200, got ${status}`);
    return evaluateSample(body, check);
  }

  async function withTimeout(ask: (signal: AbortSignal) => Promise<CheckAnswer>): Promise<CheckAnswer> {
    const { timeoutMs = TIMEOUT_MS, clock } = options;
    const end = new AbortController();
    const timer = new AbortController();
    const timeout = clock.sleep(timeoutMs, timer.signal).then(
      () => unknown(`no answer within ${timeoutMs / 1000} s`),
      () => unknown('answered'),
    );
    try {
      return await Promise.race([ask(end.signal), timeout]);
    } catch (error) {
      return unknown(messageOf(error));
    } finally {
      end.abort();
      timer.abort();
    }
  }
}

type HTTPCheck = NonNullable<Check['http']>;
type PromQLCheck = NonNullable<Check['promql']>;

/** The cluster's own health, as last observed. */
function runBuiltin(health: ObservedHealth | undefined): CheckAnswer {
  if (!health) return unknown('its health was not observed');
  if (health.answer === 'Settled') return { result: 'Passed', message: health.because };
  return { result: health.answer === 'Failed' ? 'Failed' : 'Unknown', message: health.because };
}

/** Accepts a scalar, or a vector of exactly one sample: several values cannot be compared with one pair of bounds. */
export function evaluateSample(
  body: string,
  { min, max }: { readonly min?: number; readonly max?: number },
): CheckAnswer {
  const value = sampleIn(body);
  if (value === undefined) return unknown('Prometheus returned no single value');
  if (Number.isNaN(value)) return unknown('Prometheus returned NaN');
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

/** A scalar is `[time, "value"]`; a vector is a list of samples, each with such a pair. */
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

function unknown(message: string): CheckAnswer {
  return { result: 'Unknown', message };
}
