/**
 * Runs one check: builtin health, HTTP or PromQL, with a time limit. Errors, timeouts and missing data are Unknown; gate.ts
 * decides what that means for a soak. It only watches: every request is a GET. I/O goes through the ports `get` and `clock`.
 */

import type { Check } from '../../api/generated/types.ts';
import { createPrometheus, type PrometheusOptions } from '../../observability/query/client.ts';
import { answerInTime } from '../../os/net/timed-answer.ts';
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

/** `promql` is evaluated by the Prometheus of `prometheusUrl`. */
export type CheckRunnerOptions = PrometheusOptions;

const UNCALLED_URL = 'the URL of the check cannot be read, or has a user or a password';

export function createCheckRunner(options: CheckRunnerOptions): CheckRunner {
  const prometheus = createPrometheus(options);
  return { run };

  async function run(check: Check, { health, machines }: CheckSubject): Promise<CheckAnswer> {
    const { name, builtin, http, promql } = check;
    if (builtin) return runBuiltin(health);
    if (http) return withTimeout((signal) => runHTTP(http, signal));
    if (promql) return await runPromQL(promql, machines);
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

  async function runPromQL(check: PromQLCheck, machines: ComparedMachines | undefined): Promise<CheckAnswer> {
    const expanded = expandQuery(check.query, machines);
    if ('problem' in expanded) return unknown(expanded.problem);
    const found = await prometheus.query(expanded.query);
    return 'problem' in found
      ? unknown(found.problem)
      : evaluateSample(found.body, check, options.clock.now());
  }

  async function withTimeout(ask: (signal: AbortSignal) => Promise<CheckAnswer>): Promise<CheckAnswer> {
    const found = await answerInTime(options, ask);
    return 'problem' in found ? unknown(found.problem) : found.answer;
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

function unknown(message: string): CheckAnswer {
  return { result: 'Unknown', message };
}
