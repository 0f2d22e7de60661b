/**
 * The real `promtool test rules` runs the generated rules: when each alert fires, when it does not, and when it ends. promtool is in
 * Debian's package prometheus; where it is missing these tests are skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { RULE_GROUPS } from '../../../src/observability/prometheus/groups.ts';
import type { AlertRule } from '../../../src/observability/prometheus/rule.ts';
import { ruleFile } from '../../../src/observability/prometheus/rule-file.ts';
import { SLOS } from '../../../src/observability/slos/slos.ts';
import { tempFolder } from '../../support/temp.ts';
import { ALERT_CASES, type AlertCase, HOSTING_CASES } from './alert-cases.ts';
import { bucketSeries, countSeries, SAMPLE_MINUTES } from './series.ts';
import { type BurnCase, burnCases } from './slo-cases.ts';

const FILES = ['cluster', 'hub'].map((name) => `deploy/prometheus/${name}.yaml`);
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) {
  process.stderr.write('promtool is not installed (Debian: prometheus): alerts are not tested\n');
}

const rules = new Map(
  Object.values(RULE_GROUPS)
    .flat()
    .flatMap(({ alerts }) => alerts.map((rule) => [rule.alert, rule] as const)),
);
const cases = [...ALERT_CASES, ...HOSTING_CASES];

describe('DAT-06 the cases of the alerts', () => {
  it('DAT-06 have one for each alert in which it fires, and ends', () => {
    const fire = new Set(cases.filter(({ firesAt }) => firesAt !== undefined).map(({ alert }) => alert));
    const burns = SLOS.flatMap(({ alert }) => [`${alert}BurnsFast`, `${alert}BurnsSlowly`]);
    expect([...fire, ...burns].toSorted()).toEqual([...rules.keys()].toSorted());
  });
});

describe.skipIf(!hasPromtool)('the rules in a real promtool', () => {
  it.each(FILES)('DAT-05 DAT-06 are rules that promtool accepts: %s', async (file) => {
    await expect(promtool('check', 'rules', file)).resolves.toContain('SUCCESS');
  });

  it.each(cases.map((each) => [`${each.alert} ${each.title ?? 'fires and ends'}`, each] as const))(
    'DAT-06 HOS-23 HOS-32 fires when it must, and only then: %s',
    async (_, each) => {
      const test = { minutes: 1, groups: [{ series: each.series, alerts: expectations(each) }] };
      await expect(testRules(test)).resolves.toContain('SUCCESS');
    },
  );

  it.each(SLOS.flatMap((slo) => burnCases(slo).map((each) => [slo.name, each.title, each, slo] as const)))(
    'DAT-05 %s alerts by the rate at which its budget burns: %s',
    async (_name, _title, each, slo) => {
      const groups = [{ series: each.series, alerts: burnExpectations(slo.alert, each) }];
      await expect(testRules({ minutes: SAMPLE_MINUTES, groups })).resolves.toContain('SUCCESS');
    },
  );

  it('DAT-05 needs five events: one slow repair of two is not a trend', async () => {
    const [slo] = SLOS.filter(({ name }) => name === 'fault-to-healed');
    if (slo?.indicator.type !== 'Durations') throw new Error('the objective is not one of durations');
    const parts = [[600, 1] as const];
    const series = {
      ...countSeries(slo.indicator, parts, 0.1),
      ...bucketSeries(slo.indicator, parts, 0.1),
    };
    const alerts = burnExpectations(slo.alert, {
      title: '',
      series,
      expected: [{ at: 60, fast: false, slow: false }],
    });
    const test = { minutes: SAMPLE_MINUTES, groups: [{ series, alerts }] };
    await expect(testRules(test)).resolves.toContain('SUCCESS');
  });

  it('notices an alert that does not fire', async () => {
    const series = { 'kubenode_sync_release_stopped{pipeline="fleet"}': '0x30' };
    const alerts = [expectation('ReleaseStopped', 20, { pipeline: 'fleet' })];
    await expect(testRules({ minutes: 1, groups: [{ series, alerts }] })).rejects.toThrow('ReleaseStopped');
  });
});

interface Expectation {
  readonly eval_time: string;
  readonly alertname: string;
  readonly exp_alerts: readonly object[];
}

interface RulesTest {
  /** Between two samples, and between two evaluations. */
  readonly minutes: number;
  readonly groups: readonly {
    readonly series: Readonly<Record<string, string>>;
    readonly alerts: readonly Expectation[];
  }[];
}

async function testRules({ minutes, groups }: RulesTest): Promise<string> {
  const folder = tempFolder('promtool');
  // Only the group of these alerts: promtool evaluates every rule at every sample.
  const named = new Set(groups.flatMap(({ alerts }) => alerts.map(({ alertname }) => alertname)));
  const tested = Object.values(RULE_GROUPS)
    .flat()
    .filter(({ alerts }) => alerts.some(({ alert }) => named.has(alert)));
  writeFileSync(join(folder, 'rules.yaml'), ruleFile('For a test.', tested));
  const interval = `${minutes}m`;
  const tests = groups.map(({ series, alerts }) => ({
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: alerts,
  }));
  const file = join(folder, 'rules.test.yaml');
  const rule_files = ['rules.yaml'];
  writeFileSync(file, stringify({ rule_files, evaluation_interval: interval, tests }));
  return await promtool('test', 'rules', file);
}

async function promtool(...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('promtool', args)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`promtool ${args.join(' ')}: ${stdout}${stderr}`, { cause: error });
  }
}

function expectations({
  alert,
  quietAt,
  firesAt,
  resolvedAt,
  labels,
  value,
}: AlertCase): readonly Expectation[] {
  const firing = firesAt === undefined ? [] : [expectation(alert, firesAt, labels, value)];
  return [quiet(alert, quietAt), ...firing, quiet(alert, resolvedAt)];
}

function burnExpectations(alert: string, { expected }: BurnCase): readonly Expectation[] {
  return expected.flatMap(({ at, fast, slow }) => [
    fast ? expectation(`${alert}BurnsFast`, at) : quiet(`${alert}BurnsFast`, at),
    ...(slow === undefined ? [] : [burnsSlowly(`${alert}BurnsSlowly`, at, slow)]),
  ]);
}

function burnsSlowly(alertname: string, at: number, fires: boolean): Expectation {
  return fires ? expectation(alertname, at) : quiet(alertname, at);
}

function quiet(alertname: string, minutes: number): Expectation {
  return { eval_time: `${minutes}m`, alertname, exp_alerts: [] };
}

function expectation(
  alertname: string,
  minutes: number,
  labels: Readonly<Record<string, string>> = {},
  value = '',
): Expectation {
  const rule = ruleOf(alertname);
  const { severity, labels: own = {}, runbookUrl: runbook_url } = rule;
  const summary = rule.summary
    .replaceAll(/\{\{ \$labels\.(?<name>\w+) \}\}/g, (_, name: string) => labels[name] ?? '')
    .replaceAll('{{ $value }}', value);
  const exp_labels = { severity, ...own, ...labels };
  const alert = { exp_labels, exp_annotations: { summary, runbook_url } };
  return { eval_time: `${minutes}m`, alertname, exp_alerts: [alert] };
}

function ruleOf(name: string): AlertRule {
  const rule = rules.get(name);
  if (!rule) throw new Error(`there is no alert ${name}`);
  return rule;
}
