/** The real promtool. It is in Debian's package prometheus; where it is missing, tests with it are skipped. */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import type { RuleGroup } from '../../../src/observability/prometheus/rule.ts';
import { ruleFile } from '../../../src/observability/prometheus/rule-file.ts';
import { tempFolder } from '../../support/temp.ts';

export const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

export type Sample = readonly [labels: string, value: number];

export interface Evaluation {
  readonly groups: readonly RuleGroup[];
  /** By name with labels: the samples, one each `interval`. */
  readonly series: Readonly<Record<string, string>>;
  readonly interval: string;
  readonly at: string;
}

/** Evaluates recording rules, and resolves when the metric has exactly these samples. Rejects with what promtool reports. */
export async function expectRecorded(
  { groups, series, interval, at }: Evaluation,
  name: string,
  expected: readonly Sample[],
): Promise<void> {
  const folder = tempFolder('promtool');
  writeFileSync(join(folder, 'rules.yaml'), ruleFile('For a test.', groups));
  const test = {
    interval,
    input_series: Object.entries(series).map(([metric, values]) => ({ series: metric, values })),
    promql_expr_test: [
      {
        expr: name,
        eval_time: at,
        exp_samples: expected.map(([labels, value]) => ({ labels: `${name}${labels}`, value })),
      },
    ],
  };
  const file = join(folder, 'rules.test.yaml');
  writeFileSync(
    file,
    stringify({ rule_files: ['rules.yaml'], evaluation_interval: interval, tests: [test] }),
  );
  await promisify(execFile)('promtool', ['test', 'rules', file]).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${stdout}${stderr}`);
  });
}
