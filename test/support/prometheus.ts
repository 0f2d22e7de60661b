/** A real Prometheus as a child of the test. It is in Debian's package prometheus; tests are skipped where it is missing, and say so. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { findFreePort } from '../../src/os/net/ports.ts';
import { eventually } from './eventually.ts';
import { tempFolder } from './temp.ts';

export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;
if (!hasPrometheus) {
  process.stderr.write(
    'prometheus is not installed (Debian: prometheus): queries of dashboards are not run\n',
  );
}

const RULE_FILES = ['cluster', 'hub'].map((name) => resolve(`deploy/prometheus/${name}.yaml`));

export interface PrometheusSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

export interface PrometheusServer {
  readonly url: string;
  /** Rejects with what Prometheus answers to a query that is wrong. */
  query(expr: string): Promise<readonly PrometheusSeries[]>;
  stop(): Promise<void>;
}

/** Scrapes each address every second, with the rules of deploy/prometheus. */
export async function startPrometheus(targets: Readonly<Record<string, string>>): Promise<PrometheusServer> {
  return await startWith(tempFolder('prometheus'), targets);
}

/** One sample of a series, such as `kubenode_machines{state="Ready"}`. */
export type PastSample = readonly [series: string, value: number, seconds: number];

/** Starts one that scrapes nothing, and has these samples. The samples of a metric follow each other. */
export async function startPrometheusWithPast(samples: readonly PastSample[]): Promise<PrometheusServer> {
  const folder = tempFolder('prometheus');
  const file = join(folder, 'past.txt');
  writeFileSync(file, `${samples.map((sample) => sample.join(' ')).join('\n')}\n# EOF\n`);
  const { status, stderr } = spawnSync(
    'promtool',
    ['tsdb', 'create-blocks-from', 'openmetrics', file, join(folder, 'data')],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`promtool does not accept the samples: ${stderr}`);
  const server = await startWith(folder, {});
  await eventually(() => server.query('vector(1)').catch(() => undefined), 'Prometheus does not answer');
  return server;
}

async function startWith(
  folder: string,
  targets: Readonly<Record<string, string>>,
): Promise<PrometheusServer> {
  const file = join(folder, 'prometheus.yaml');
  writeFileSync(
    file,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: RULE_FILES,
      scrape_configs: Object.entries(targets).map(([job, address]) => ({
        job_name: job,
        static_configs: [{ targets: [address] }],
      })),
    }),
  );
  const address = `127.0.0.1:${await findFreePort()}`;
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`];
  const child = spawn('prometheus', [...flags, `--web.listen-address=${address}`, '--log.level=warn'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return {
    url: `http://${address}`,
    query: async (expr) => await ask(`http://${address}/api/v1/query?query=${encodeURIComponent(expr)}`),
    stop: async () => await ended(child),
  };
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly PrometheusSeries[] };
}

async function ask(url: string): Promise<readonly PrometheusSeries[]> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status === 503) throw new Error(`Prometheus is not ready: ${text}`);
  const { error, data } = JSON.parse(text) as Answer;
  if (!data) throw new Error(`Prometheus refuses the query: ${error}`);
  return data.result;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill('SIGKILL');
  await end;
}
