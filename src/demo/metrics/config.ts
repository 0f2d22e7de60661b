/** Describes the Prometheus beside a local fleet: its configuration and its flags. Pure. */
import { stringify } from 'yaml';
import type { Layout } from '../../local/layout.ts';
import { prometheusFlags } from '../../local/prometheus.ts';
import { RULE_GROUPS } from '../../observability/prometheus/groups.ts';
import { ruleFile } from '../../observability/prometheus/rule-file.ts';
import { METRICS_JOBS, type MetricsTarget, scrapeTargetFile } from './targets.ts';

export const CONFIG_FILE = 'prometheus.yaml';

/** A person looks at a change within seconds; ten agents and six processes are a few hundred samples a second. */
const SCRAPE_INTERVAL = '5s';
/** A process of kubenode has at most this many series (DAT-12): one with more is not scraped, so that it does not fill the disk. */
const SAMPLE_LIMIT = 20_000;
/** As long as Prometheus keeps data by default, and longer than the week of `kubenode report`. */
const RETENTION = '15d';
/** Blocks and the log before them: a local fleet writes about 20 MB a day. */
const RETENTION_SIZE = '512MB';

/**
 * Returns the files that do not change, by their path in the folder of Prometheus. All paths are relative to it: `rule_files` and
 * `file_sd_configs` are patterns, in which characters such as `[` of the name of a folder would have a meaning.
 */
export function prometheusFiles(): ReadonlyMap<string, string> {
  const rules = Object.entries(RULE_GROUPS).map(
    ([name, groups]) => [`rules/${name}.yaml`, ruleFile(`Rules of ${name}.`, groups)] as const,
  );
  const config = {
    global: { scrape_interval: SCRAPE_INTERVAL, evaluation_interval: '15s' },
    rule_files: rules.map(([path]) => path),
    scrape_configs: METRICS_JOBS.map((job) => ({
      job_name: job,
      sample_limit: SAMPLE_LIMIT,
      file_sd_configs: [{ files: [targetPath(job)], refresh_interval: '10s' }],
    })),
  };
  return new Map([...rules, [CONFIG_FILE, stringify(config)]]);
}

/** Returns the files of the targets. Prometheus reads them again when they change. */
export function targetFiles(targets: readonly MetricsTarget[]): ReadonlyMap<string, string> {
  return new Map(METRICS_JOBS.map((job) => [targetPath(job), scrapeTargetFile(targets, job)]));
}

export function prometheusArgs(layout: Pick<Layout, 'prometheus'>, port: number): readonly string[] {
  return [
    `--config.file=${CONFIG_FILE}`,
    ...prometheusFlags(layout, `127.0.0.1:${port}`),
    `--storage.tsdb.retention.time=${RETENTION}`,
    `--storage.tsdb.retention.size=${RETENTION_SIZE}`,
    '--log.level=warn',
  ];
}

function targetPath(job: string): string {
  return `targets/${job}.json`;
}
