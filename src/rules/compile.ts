/**
 * Compiles the rule of a NodeRemedier. Strict: every unknown field or value is refused, with its path and a hint. Pure
 * and without the rule engine, so that it also runs at synth, in CI and in sync.
 */
import type { Problem } from '../api/validation/validate.ts';
import { isRecord, valueAt } from '../kube/objects/json.ts';
import { FACT_KINDS } from './catalog.ts';
import { compileLadder } from './compile/ladder.ts';
import { reportOtherKeys } from './compile/leaf.ts';
import { compileMaxAge } from './compile/max-age.ts';
import { checkTarget } from './compile/target.ts';
import { compileTests } from './compile/tests.ts';
import { compileTree } from './compile/tree.ts';
import { type CompiledRule, type ConditionTree, type FactRef, listFactRefs } from './compiled-rule.ts';
import { createProblemCollector, type ReportProblem, readObject } from './problems.ts';

export type CompileResult =
  | { readonly rule: CompiledRule; readonly problems: readonly [] }
  | { readonly rule?: undefined; readonly problems: readonly Problem[] };

const RULE_KEYS = ['conditions', 'gate', 'maxAgeSeconds', 'clearSeconds', 'flap', 'onIndeterminate'];

/** Compiles the `spec` of a NodeRemedier, which can be any value. */
export function compileRule(spec: unknown): CompileResult {
  const { report, problems } = createProblemCollector();
  const rule = isRecord(spec) ? compileSpec(report, spec) : report('spec', 'must be an object');
  const all = problems();
  if (rule && all.length === 0) return { rule, problems: [] };
  return { problems: all };
}

function compileSpec(report: ReportProblem, spec: object): CompiledRule | undefined {
  checkTarget(report, 'spec.target', valueAt(spec, 'target'));
  const trees = compileTrees(report, 'spec.rule', valueAt(spec, 'rule'));
  const verify = compileLadder(report, 'spec.ladder', valueAt(spec, 'ladder'));
  const hasGate = isRecord(valueAt(spec, 'rule', 'gate'));
  const tests = compileTests(report, 'spec.tests', valueAt(spec, 'tests'), hasGate);
  if (!trees) return undefined;
  const { conditions, gate } = trees;
  const reads = listFactRefs(gate ? [conditions, gate] : [conditions]);
  const all = listFactRefs([conditions, ...(gate ? [gate] : []), ...verify.values()]);
  const ages = valueAt(spec, 'rule', 'maxAgeSeconds');
  const names = [...new Set(all.map(({ fact }) => fact))];
  const maxAge = compileMaxAge(report, 'spec.rule.maxAgeSeconds', ages, names);
  checkHistory(report, all, spec);
  reportGateFacts(report, 'spec.rule.conditions', [conditions]);
  reportGateFacts(report, 'spec.ladder', [...verify.values()]);
  return { conditions, ...(gate && { gate }), verify, maxAge, reads, tests };
}

interface RuleTrees {
  readonly conditions: ConditionTree;
  readonly gate?: ConditionTree;
}

function compileTrees(report: ReportProblem, path: string, written: unknown): RuleTrees | undefined {
  const rule = readObject(report, path, written);
  if (!rule) return undefined;
  reportOtherKeys(report, path, rule, RULE_KEYS);
  const conditions = compileTree(report, `${path}.conditions`, valueAt(rule, 'conditions'));
  const condition = valueAt(rule, 'gate');
  const hasGate = condition !== undefined && condition !== null;
  const gate = hasGate ? compileTree(report, `${path}.gate`, condition) : undefined;
  return conditions && { conditions, ...(gate && { gate }) };
}

/** A fault that proves itself by the faults of others, for example, would spread to all nodes, and none could end. */
function reportGateFacts(report: ReportProblem, path: string, trees: readonly ConditionTree[]): void {
  for (const name of new Set(listFactRefs(trees).map(({ fact }) => fact))) {
    const reason = FACT_KINDS.get(name)?.onlyInGate;
    if (reason === undefined) continue;
    report(path, `fact ${name} is for spec.rule.gate only, because ${reason}: move it`);
  }
}

/** Two weeks: the default in the CRD. */
const DEFAULT_JOB_TTL = 1_209_600;

/** History is counted from jobs, so jobs must be kept for the longest window. */
function checkHistory(report: ReportProblem, refs: readonly FactRef[], spec: object): void {
  const ttl = Number(valueAt(spec, 'job', 'ttlSeconds') ?? DEFAULT_JOB_TTL);
  const windows = refs
    .filter(({ fact }) => fact === 'history')
    .map(({ params }) => Number(params['windowSeconds']));
  const longest = Math.max(0, ...windows);
  // Negated, so that NaN is accepted here: the schema reports values that are not numbers.
  if (!(longest > ttl)) return;
  const message = `a condition reads the history of ${longest} seconds, but jobs are kept for ${ttl} seconds: increase it`;
  report('spec.job.ttlSeconds', message);
}
