/**
 * Runs one check: builtin health, HTTP or PromQL, with a time limit. Errors, timeouts and missing data are Unknown; gate.ts
 * decides what that means for a soak. It only watches: every request is a GET. I/O goes through the ports `get` and `clock`.
 */

import type { Check } from '../../api/generated/types.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf, systemCode } from '../../os/errors.ts';
import type { HttpAnswer } from '../../os/net/http-get.ts';
import type { CheckAnswer } from './gate.ts';
import { type ComparedMachines, expandQuery } from './query.ts';
import { evaluateSample } from './sample.ts';

export interface CheckRunner {
  /** Never rejects. */
  run(check: Check, subject: CheckSubject): Promise<CheckAnswer>;
}

/** Names what is checked: a Cluster for a stage, a MachineComponentSet for a batch. */
export interface CheckSubject {
  readonly name: string;
  /** The last observed health; undefined if there is none. */
  readonly health?: ObservedHealth | undefined;
  /** The machines that a query may name. Undefined: none, as for a stage. */
  readonly machines?: ComparedMachines;
}

export interface ObservedHealth {
  readonly answer: 'Settled' | 'Progressing' | 'Failed' | 'Unknown';
  readonly because: string;
}

export interface CheckRunnerOptions {
  readonly clock: Clock;
  /** One GET that does not follow redirects, and reads so much of the body. Rejects without an answer. */
  readonly get: (url: string, signal: AbortSignal, maxBytes?: number) => Promise<HttpAnswer>;
  /** The Prometheus that evaluates `promql`, as http://prometheus.monitoring:9090. */
  readonly prometheusUrl?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const UNCALLED_URL = 'the URL of the check cannot be read, or has a user or a password';

export function createCheckRunner(options: CheckRunnerOptions): CheckRunner {
  return { run };

  async function run(check: Check, { health, machines }: CheckSubject): Promise<CheckAnswer> {
    const { name, builtin, http, promql } = check;
    if (builtin) return runBuiltin(health);
    if (http) return withTimeout((signal) => runHTTP(http, signal));
    if (promql) return withTimeout((signal) => runPromQL(promql, machines, signal));
    return unknown(`check ${name} cannot be evaluated: it has no type. Use builtin, http or promql`);
  }

  async function runHTTP({ url, expectStatus }: HTTPCheck, signal: AbortSignal): Promise<CheckAnswer> {
    const shown = shownURL(url);
    if (shown === undefined) return unknown(UNCALLED_URL);
    // Only the status counts: the server of an author must not fill the memory of this process.
    const { status } = await options.get(url, signal, 0);
    const message = `${shown}: expected status ${expectStatus}, got ${status}`;
    return { result: status === expectStatus ? 'Passed' : 'Failed', message };
  }

  async function runPromQL(
    check: PromQLCheck,
    machines: ComparedMachines | undefined,
    signal: AbortSignal,
  ): Promise<CheckAnswer> {
    const { prometheusUrl, clock } = options;
    if (prometheusUrl === undefined) {
      return unknown('no Prometheus is configured: start this program with --prometheus-url');
    }
    const expanded = expandQuery(check.query, machines);
    if ('problem' in expanded) return unknown(expanded.problem);
    const query = new URLSearchParams(expanded);
    const { status, body } = await options.get(
      `${prometheusUrl.replace(/\/$/, '')}/api/v1/query?${query.toString()}`,
      signal,
    );
    if (status !== 200) return unknown(`Prometheus: expected status 200, got ${status}`);
    return evaluateSample(body, check, clock.now());
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
      return unknown(failureText(error));
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

/** Returns the URL without its query, which may have a token: a message is read by more people than a spec. Undefined: it is not called. */
function shownURL(text: string): string | undefined {
  const url = URL.parse(text);
  // `fetch` refuses a user, with an error that has the password.
  if (!url || url.username !== '' || url.password !== '') return undefined;
  return `${url.origin}${url.pathname}`;
}

/** Returns why there is no answer: `fetch` has that in the cause of its error. */
function failureText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return messageOf(cause) || (systemCode(cause) ?? 'no answer');
}

function unknown(message: string): CheckAnswer {
  return { result: 'Unknown', message };
}
