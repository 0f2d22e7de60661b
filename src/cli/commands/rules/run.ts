/** Runs `kubenode rules test` and `lint`: renders the working tree of a fleet repository and checks its rules. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { openWorkingTree } from '../../../sync/git/working-tree.ts';
import { isRenderError } from '../../../sync/render/errors.ts';
import { createRenderer, type Renderer } from '../../../sync/render/renderer.ts';
import type { RenderedTarget } from '../../../sync/rendered.ts';
import { formatCount } from '../../../views/text/counts.ts';
import { createPermitCheck, declaredPermitWarnings } from '../../checks/rule-permits.ts';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult, printWarnings } from '../../output.ts';
import { type CheckedRule, checkFoundRule, type FoundRule, type RuleFinding } from './check.ts';
import { findRules, readSourceTexts } from './find.ts';
import { schemaFindings } from './schema-findings.ts';

interface CheckFlags {
  readonly path: string;
  readonly rule?: string;
  readonly output: OutputFormat;
}

interface CheckCommand {
  readonly name: string;
  readonly description: string;
  readonly help: string;
  readonly withTests: boolean;
  /** The exit code when something is found. */
  readonly exitCode: ExitCode;
}

export interface RulesReport {
  readonly rules: readonly CheckedRule[];
  /** The problems of the render, which refuses a rule that does not compile. */
  readonly problems: readonly RuleFinding[];
}

const TEST_HELP = `
Renders the working tree as sync does, compiles every NodeRemedier and runs the tests inside it. A test that fails is printed with
its file and line, what was expected, what came out, and the facts that decided. For rules in a YAML file outside of a fleet
repository: kubenode validate FILE. Exit codes: 0 all passed, 1 a test failed or a rule does not compile.

Examples:
  kubenode rules test
  kubenode rules test my-fleet --rule kernel-hang`;

export function createRulesTestCommand(io: Io): Command {
  const description = 'run the tests inside the rules of a fleet repository';
  return createCheckCommand(io, {
    name: 'test',
    description,
    help: TEST_HELP,
    withTests: true,
    exitCode: EXIT.failed,
  });
}

const LINT_HELP = `
Renders the working tree as sync does and compiles every NodeRemedier, without its tests: facts, fields, operators, values and their
types, steps and the order of the ladder. Exit codes: 0 all compile, 65 one does not.`;

export function createRulesLintCommand(io: Io): Command {
  const description = 'compile the rules of a fleet repository';
  return createCheckCommand(io, {
    name: 'lint',
    description,
    help: LINT_HELP,
    withTests: false,
    exitCode: EXIT.badInput,
  });
}

function createCheckCommand(io: Io, { name, description, help, withTests, exitCode }: CheckCommand): Command {
  return new Command(name)
    .description(description)
    .argument('[dir]', 'folder of the repository', '.')
    .option('--path <folder>', 'folder of the fleet in the repository (spec.source.path)', '.')
    .option('--rule <name>', 'only this NodeRemedier')
    .addOption(createOutputOption())
    .addHelpText('after', help)
    .action(async (dir: string, flags: CheckFlags) => {
      const report = await checkRules(io, resolve(io.cwd, dir), { ...flags, withTests });
      const findings = [...report.problems, ...report.rules.flatMap((rule) => rule.findings)];
      printReport(io, report, findings, flags.output);
      setExitCode(io, findings.length > 0 ? exitCode : EXIT.ok);
    });
}

function printReport(
  io: Io,
  report: RulesReport,
  findings: readonly RuleFinding[],
  output: OutputFormat,
): void {
  printResult(io, output, report, () =>
    findings.length > 0
      ? {
          columns: ['where', 'rule', 'field', 'problem'],
          rows: findings.map(({ where, rule, field, message }) => [where, rule, field, message]),
        }
      : {
          columns: ['rule', 'tests', 'targets'],
          rows: report.rules.map(({ rule, tests, targets }) => [rule, `${tests}`, targets.join(', ')]),
          empty: 'no rules: the fleet declares no NodeRemedier',
        },
  );
  if (output === 'table') io.err(`${summaryText(report, findings.length)}\n`);
}

function summaryText({ rules, problems: ofRender }: RulesReport, problems: number): string {
  if (ofRender.length > 0) {
    return `no test was run: the fleet does not render, ${formatCount(problems, 'problem')}`;
  }
  const tests = rules.reduce((sum, rule) => sum + rule.tests, 0);
  const run = tests > 0 ? `, ${formatCount(tests, 'test')} run` : '';
  return `${formatCount(rules.length, 'rule')} read${run}, ${formatCount(problems, 'problem')}`;
}

interface CheckRequest extends Pick<CheckFlags, 'path' | 'rule'> {
  readonly withTests: boolean;
}

export async function checkRules(
  io: Io,
  folder: string,
  { path, rule, withTests }: CheckRequest,
  renderer: Renderer = createRenderer(),
): Promise<RulesReport> {
  const root = await openWorkingTree(folder).then(
    (tree) => tree.root,
    () => folder,
  );
  const below = resolve(folder, path).slice(root.length + 1) || '.';
  try {
    const { targets, warnings } = await renderer.folder({ folder: root, path: below, signal: io.signal });
    printWarnings(io, [...warnings, ...declaredPermitWarnings(targets)]);
    const rules: CheckedRule[] = [];
    const options = { withTests, sources: () => readSourceTexts(root, below) };
    const permits = createPermitFindings(targets);
    for (const found of selectRules(findRules(targets), rule)) {
      const checked = await checkFoundRule(found, options);
      rules.push({ ...checked, findings: [...checked.findings, ...permits(found)] });
    }
    return { rules, problems: [] };
  } catch (error) {
    if (!isRenderError(error, 'BadObject')) throw error;
    const problems = schemaFindings(error.problems, readSourceTexts(root, below), folder);
    return { rules: [], problems };
  }
}

/** Returns a check that finds the steps of a rule that no host can permit, in the first cluster with such steps. */
function createPermitFindings(
  targets: readonly RenderedTarget[],
): (found: FoundRule) => readonly RuleFinding[] {
  const checks = new Map(
    targets.map(({ target, units }) => [
      target,
      createPermitCheck(units.flatMap(({ objects }) => objects.map(({ object }) => object))),
    ]),
  );
  return ({ name, object, targets: clusters, declaredAt }) => {
    const first = clusters.map((target) => checks.get(target)?.(object) ?? []).find((all) => all.length > 0);
    return (first ?? []).map(({ path, message }) => ({
      where: declaredAt,
      rule: name,
      field: path,
      message,
    }));
  };
}

/** Selects the rules by name. `where` is the option or argument that names the rule. */
export function selectRules(
  all: readonly FoundRule[],
  name: string | undefined,
  where = '--rule',
): readonly FoundRule[] {
  if (name === undefined) return all;
  const found = all.filter((rule) => rule.name === name);
  if (found.length > 0) return found;
  const names = [...new Set(all.map((rule) => rule.name))];
  throw new CliError(`the fleet declares no rule ${name}`, {
    where,
    hint: names.length > 0 ? `use one of: ${names.join(', ')}` : 'declare a NodeRemedier first',
    exitCode: EXIT.badInput,
  });
}
