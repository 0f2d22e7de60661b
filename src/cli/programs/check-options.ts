/** Defines the option of the programs that run checks, and creates what runs them. */
import type { Command } from 'commander';
import { optional } from '../../kube/objects/optional.ts';
import {
  createPrometheus,
  type Prometheus,
  type PrometheusOptions,
} from '../../observability/query/client.ts';
import { httpGet } from '../../os/net/http-get.ts';
import { type CheckRunner, createCheckRunner } from '../../rollout/checks/runner.ts';
import type { Io } from '../io.ts';
import { parsePrometheusUrl } from '../option-parsers.ts';

export interface CheckFlags {
  readonly prometheusUrl?: string;
}

export function addCheckOptions(command: Command, checked: string): Command {
  return command.option(
    '--prometheus-url <url>',
    `URL of the Prometheus server for the promql queries of ${checked}`,
    parsePrometheusUrl,
  );
}

export function checkRunnerOf(io: Pick<Io, 'clock'>, flags: CheckFlags): CheckRunner {
  return createCheckRunner(prometheusOptions(io, flags));
}

export function prometheusOf(io: Pick<Io, 'clock'>, flags: CheckFlags): Prometheus {
  return createPrometheus(prometheusOptions(io, flags));
}

function prometheusOptions({ clock }: Pick<Io, 'clock'>, { prometheusUrl }: CheckFlags): PrometheusOptions {
  return { clock, get: httpGet, ...optional('prometheusUrl', prometheusUrl) };
}
