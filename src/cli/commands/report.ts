/** `kubenode report`: what a platform team reads in its weekly review, from Prometheus. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { stateFolder } from '../../local/folders.ts';
import { findPrometheusUrl } from '../../local/prometheus.ts';
import { reportMarkdown } from '../../observability/report/markdown.ts';
import { askPrometheus } from '../../observability/report/read.ts';
import { composeReport } from '../../observability/report/report.ts';
import { reportSections } from '../../observability/report/sections.ts';
import { messageOf } from '../../os/errors.ts';
import { httpGet } from '../../os/net/http-get.ts';
import { formatJson } from '../../views/text/json.ts';
import { CliError, EXIT } from '../errors.ts';
import { setExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { createDurationOption, parsePrometheusUrl } from '../option-parsers.ts';
import { printWarnings } from '../output.ts';

const HELP = `
Objectives, the four DORA figures by Pipeline and stage, rollouts and coverage of components, top faults, top denials and the machines that
were repaired most, as Prometheus has counted them. Coverage is that of the end of the period. What Prometheus does not have is named at the top and on stderr, and the exit code
is 2 then; it is 69 if Prometheus does not answer at all. A Prometheus of several clusters must tell them apart by a label: --cluster-label.
The repairs of a machine: "kubenode remedy list --machine NAME".

Examples:
  kubenode report --prometheus-url http://prometheus.monitoring:9090
  kubenode report --since 30d -o json --prometheus-url http://localhost:9090 > report.json`;

interface ReportFlags {
  readonly prometheusUrl?: string;
  readonly since: number;
  readonly clusterLabel: string;
  readonly output: 'markdown' | 'json';
}

export function createReportCommand(io: Io): Command {
  return new Command('report')
    .description(
      'report objectives, DORA figures, coverage, top faults and denials of a period, from Prometheus',
    )
    .addOption(createDurationOption('--since <duration>', 'how far back: at most 90d', '7d'))
    .option(
      '--prometheus-url <url>',
      'URL of the Prometheus server (default: that of "kubenode start --metrics")',
      parsePrometheusUrl,
    )
    .option(
      '--cluster-label <label>',
      'label that tells the clusters of one Prometheus apart',
      parseLabel,
      'cluster',
    )
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['markdown', 'json']).default('markdown'),
    )
    .addHelpText('after', HELP)
    .action((flags: ReportFlags) => report(io, flags));
}

function parseLabel(text: string): string {
  if (/^[a-zA-Z_][a-zA-Z0-9_]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError(`Expected the name of a label, got ${JSON.stringify(text)}.`);
}

/** Returns the Prometheus beside the local fleet in its usual folder. */
async function localPrometheusUrl({ env }: Io): Promise<string> {
  const url = await findPrometheusUrl(stateFolder(env));
  if (url !== undefined) return url;
  throw new CliError('no Prometheus given, and none runs beside a local fleet', {
    hint: 'pass --prometheus-url, or run: kubenode start --metrics',
    exitCode: EXIT.usage,
  });
}

const MAX_SECONDS = 90 * 86_400;

async function report(io: Io, flags: ReportFlags): Promise<void> {
  const { since: seconds, clusterLabel } = flags;
  if (seconds < 300 || seconds > MAX_SECONDS) {
    throw new CliError('--since must be from 5m to 90d', { exitCode: EXIT.usage });
  }
  const prometheusUrl = flags.prometheusUrl ?? (await localPrometheusUrl(io));
  const plans = reportSections({ seconds, clusterLabel });
  const source = { prometheusUrl, get: httpGet, clock: io.clock, signal: io.signal };
  const answers = await askPrometheus(source, plans, seconds).catch((error: unknown) => {
    io.signal.throwIfAborted();
    throw new CliError(`Prometheus does not answer: ${messageOf(error)}`, {
      where: prometheusUrl,
      hint: 'check the URL, and that Prometheus can be reached from here',
      exitCode: EXIT.unavailable,
      cause: error,
    });
  });
  const found = composeReport(plans, answers);
  io.out(flags.output === 'json' ? formatJson(found) : reportMarkdown(found));
  printWarnings(io, found.missing);
  if (!found.isComplete) setExitCode(io, EXIT.incomplete);
}
