import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  CONFIG_FILE,
  prometheusArgs,
  prometheusFiles,
  targetFiles,
} from '../../../src/demo/metrics/config.ts';
import { RULE_GROUPS } from '../../../src/observability/prometheus/groups.ts';
import { hasPrometheus } from '../../support/prometheus.ts';
import { tempFolder } from '../../support/temp.ts';

it('scrapes the file of each job, with all rules, and only by paths below its own folder', () => {
  const files = prometheusFiles();
  const config = parse(files.get(CONFIG_FILE) ?? '') as {
    rule_files: string[];
    scrape_configs: { job_name: string; file_sd_configs: { files: string[] }[] }[];
  };
  const written = [...files.keys(), ...targetFiles([]).keys()];
  const named = config.scrape_configs.flatMap(({ file_sd_configs: [found] }) => found?.files ?? []);
  expect([...config.rule_files, ...named, CONFIG_FILE].toSorted()).toEqual(written.toSorted());
  expect(config.scrape_configs.map(({ job_name: job }) => job)).toEqual([
    'agent',
    'controllers',
    'hosting',
    'sync',
  ]);
  expect(Object.keys(RULE_GROUPS).map((name) => `rules/${name}.yaml`)).toEqual(config.rule_files);
});

it('listens on this machine only, and limits time and size of the data', () => {
  expect(prometheusArgs({ prometheus: '/f [a]/prometheus' }, 9090)).toEqual([
    '--config.file=prometheus.yaml',
    '--storage.tsdb.path=/f [a]/prometheus/data',
    '--web.listen-address=127.0.0.1:9090',
    '--storage.tsdb.retention.time=15d',
    '--storage.tsdb.retention.size=512MB',
    '--log.level=warn',
  ]);
});

it.skipIf(!hasPrometheus)('DAT-08 is accepted by promtool, in a folder with an odd name', () => {
  const folder = join(tempFolder('odd'), 'a [b] *');
  for (const [name, text] of [...prometheusFiles(), ...targetFiles([])]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const printed = execFileSync('promtool', ['check', 'config', CONFIG_FILE], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(printed).toContain('2 rule files found');
});
