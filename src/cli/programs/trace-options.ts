/** Defines the options of the programs that export traces, and creates what exports them. */
import type { Command } from 'commander';
import type { Log } from '../../kube/process/log.ts';
import type { Metrics } from '../../kube/process/metrics.ts';
import {
  createTraceExporter,
  isRefusedExport,
  type TraceExporter,
} from '../../observability/trace/otlp/exporter.ts';
import { registerTraceMetrics } from '../../observability/trace/otlp/metrics.ts';
import {
  isSdkDisabled,
  readTraceSettings,
  type TraceFlags,
} from '../../observability/trace/otlp/settings.ts';
import { messageOf, OsError } from '../../os/errors.ts';
import { exchange } from '../../os/net/exchange.ts';
import { createSender } from '../../os/net/sender.ts';
import type { Io } from '../io.ts';
import { parseOtlpEndpoint } from '../option-parsers.ts';
import { KUBENODE_VERSION } from '../version.ts';

export function addTraceOptions(command: Command, traced: string): Command {
  return command
    .option(
      '--otlp-endpoint <url>',
      `URL of the OpenTelemetry collector that gets a trace of ${traced}, by OTLP over HTTP (default: OTEL_EXPORTER_OTLP_ENDPOINT)`,
      parseOtlpEndpoint,
    )
    .option('--otlp-cluster <name>', 'name of this cluster in the traces: k8s.cluster.name');
}

export interface TraceParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random: () => number;
}

/** Undefined: traces are off, and nothing is watched or remembered for them. */
export function openTraces(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  flags: TraceFlags,
  { log, metrics, random }: TraceParts,
): TraceExporter | undefined {
  const traces = registerTraceMetrics(metrics);
  const settings = readSettings(env, flags, log);
  if (settings === undefined) return undefined;
  const sender = createSender({ clock, random, exchange, isRefusal: isRefusedExport });
  // Without its query, which may have a token.
  const { origin, pathname } = new URL(settings.url);
  log.info('traces are exported', { url: `${origin}${pathname}` });
  return createTraceExporter({ settings, version: KUBENODE_VERSION, sender, clock, log, metrics: traces });
}

/** An option with a mistake is refused. A variable may be set for all programs of a platform, so one with a mistake only turns traces off. */
function readSettings(env: Io['env'], flags: TraceFlags, log: Log): ReturnType<typeof readTraceSettings> {
  try {
    if (flags.otlpEndpoint !== undefined && isSdkDisabled(env)) {
      log.warn('traces are off: OTEL_SDK_DISABLED is true, although --otlp-endpoint is set');
    }
    return readTraceSettings(flags, env, KUBENODE_VERSION);
  } catch (error) {
    if (flags.otlpEndpoint !== undefined) {
      throw new OsError('BadInput', `traces: ${messageOf(error)}`, {
        hint: 'docs/guides/traces.md describes the options and variables',
      });
    }
    log.warn('traces are off: a variable is invalid', { because: messageOf(error) });
    return undefined;
  }
}
