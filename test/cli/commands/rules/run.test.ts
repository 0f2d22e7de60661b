import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRules } from '../../../../src/cli/commands/rules/run.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { createTestRenderer } from '../../../support/fleet-repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const renderer = createTestRenderer();

/** The example fleet, with one text of a rule replaced. */
function fleetWith(before = '', after = ''): string {
  const folder = tempFolder('rules');
  for (const part of ['fleet', 'rules', 'cdk8s.yaml']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  const file = join(folder, 'rules/kernel-hang.ts');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(before);
  writeFileSync(file, text.replace(before, after));
  return folder;
}

const ALL = { path: '.', withTests: true };

describe('kubenode rules', () => {
  it('R9 runs the tests of every rule once, although each cluster has it', async () => {
    const { rules, problems } = await checkRules(testIo(), fleetWith(), ALL, renderer);
    expect(problems).toEqual([]);
    expect(rules.map(({ rule }) => rule)).toContain('kernel-hang');
    expect(rules.every(({ tests, findings }) => tests >= 5 && findings.length === 0)).toBe(true);
    expect(rules.every(({ targets }) => targets.join() === 'pre,prod,test')).toBe(true);
  });

  it('R9 reports a flipped comparison with file and line of the tests that it breaks', async () => {
    const folder = fleetWith('uptimeSeconds.atLeast(900)', 'uptimeSeconds.below(900)');
    const io = testIo();
    const { rules } = await checkRules(io, folder, { ...ALL, rule: 'kernel-hang' }, renderer);
    const lines = readFileSync(join(folder, 'rules/kernel-hang.ts'), 'utf8').split('\n');
    const lineOf = (name: string): number => lines.findIndex((line) => line.includes(`'${name}'`)) + 1;
    expect(rules.flatMap(({ findings }) => findings.map(({ where }) => where))).toEqual([
      `rules/kernel-hang.ts:${lineOf('three hung tasks')}`,
      `rules/kernel-hang.ts:${lineOf('just booted')}`,
    ]);
  });

  it('R7 reports a rule that does not compile with file, line and field', async () => {
    const folder = fleetWith('uptimeSeconds.atLeast(900)', "uptimeSeconds.atLeast('900')");
    const { problems } = await checkRules(testIo(), folder, ALL, renderer);
    const lines = readFileSync(join(folder, 'rules/kernel-hang.ts'), 'utf8').split('\n');
    const line = lines.findIndex((each) => each.includes('gate:')) + 1;
    expect(line).toBeGreaterThan(0);
    // Once, although each of three clusters has the rule, and in its own file, not in that of the object.
    expect(problems).toEqual([
      {
        where: `rules/kernel-hang.ts:${line}`,
        rule: 'kernel-hang',
        field: 'spec.rule.gate.value',
        message: expect.stringContaining('node.uptimeSeconds must be a number') as string,
      },
    ]);
  });

  it('tells that no test was run where a rule does not compile', async () => {
    const cwd = fleetWith('uptimeSeconds.atLeast(900)', "uptimeSeconds.atLeast('900')");
    const io = testIo({ cwd });
    expect(await runCommandLine(io, ['rules', 'test'])).toBe(1);
    expect(io.stderr).toContain('no test was run: the fleet does not render, 1 problem\n');
    expect(io.stdout.split('\n').filter((line) => line.includes('must be a number'))).toHaveLength(1);
  });

  it('names the rules of the fleet when there is none of that name', async () => {
    const io = testIo({ cwd: fleetWith() });
    expect(await runCommandLine(io, ['rules', 'lint', '--rule', 'kernel-hung'])).toBe(65);
    expect(io.stderr).toContain('use one of: clock-drift, component-down-kubelet');
  });

  it('exits with 1 when a test failed, and has the finding for programs', async () => {
    const io = testIo({
      cwd: fleetWith("'no hung task', expect: 'NoMatch'", "'no hung task', expect: 'Match'"),
    });
    expect(await runCommandLine(io, ['rules', 'test', '-o', 'json'])).toBe(1);
    const { rules } = JSON.parse(io.stdout) as { rules: { rule: string; findings: object[] }[] };
    expect(rules.find(({ rule }) => rule === 'kernel-hang')?.findings).toEqual([
      expect.objectContaining({
        field: 'spec.tests[2]',
        where: expect.stringMatching(/^rules\/kernel-hang/) as string,
      }),
    ]);
  });
});
