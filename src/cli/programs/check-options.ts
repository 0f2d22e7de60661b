/** Defines the option of the programs that run checks, and creates what runs them. */
import type { Command } from 'commander';
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
    `URL of the Prometheus server for promql checks of ${checked}`,
    parsePrometheusUrl,
  );
}

export function checkRunnerOf({ clock }: Pick<Io, 'clock'>, { prometheusUrl }: CheckFlags): CheckRunner {
  return createCheckRunner({
    clock,
    get: httpGet,
    ...(prometheusUrl === undefined ? {} : { prometheusUrl }),
  });
}
