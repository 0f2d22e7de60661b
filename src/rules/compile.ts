/**
 * The only way from a NodeRemedier to an engine. Strict: what it does not know, it refuses, each with where and with the
 * way out. Pure and without an engine, so that it runs at synth, in CI, in sync and in the controller alike.
 */
import { isRecord, valueAt } from '../kube/objects/json.ts';
import { compileLadder } from './compile/ladder.ts';
import { refuseOtherKeys } from './compile/leaf.ts';
import { compileMaxAge } from './compile/max-age.ts';
import { checkTarget } from './compile/target.ts';
import { compileTests } from './compile/tests.ts';
import { compileTree } from './compile/tree.ts';
import { type CompiledRule, type FactRef, refsOf, type Tree } from './compiled-rule.ts';
import { gather, type Problem, type Report, recordAt } from './problems.ts';

export type Compiled =
  | { readonly rule: CompiledRule; readonly problems: readonly [] }
  | { readonly rule?: undefined; readonly problems: readonly Problem[] };

const RULE_KEYS = ['conditions', 'gate', 'maxAgeSeconds', 'clearSeconds', 'flap', 'onIndeterminate'];

/** `spec` of a NodeRemedier, of which nothing is known yet. */
export function compile(spec: unknown): Compiled {
  const { report, problems } = gather();
  const rule = isRecord(spec) ? compileSpec(report, spec) : report('spec', 'must be an object');
  const found = problems();
  if (rule && found.length === 0) return { rule, problems: [] };
  return { problems: found };
}

function compileSpec(report: Report, spec: object): CompiledRule | undefined {
  checkTarget(report, 'spec.target', valueAt(spec, 'target'));
  const trees = compileRule(report, 'spec.rule', valueAt(spec, 'rule'));
  const verify = compileLadder(report, 'spec.ladder', valueAt(spec, 'ladder'));
  const hasGate = isRecord(valueAt(spec, 'rule', 'gate'));
  const tests = compileTests(report, 'spec.tests', valueAt(spec, 'tests'), hasGate);
  if (!trees) return undefined;
  const { conditions, gate } = trees;
  const reads = refsOf(gate ? [conditions, gate] : [conditions]);
  const all = refsOf([conditions, ...(gate ? [gate] : []), ...verify.values()]);
  const ages = valueAt(spec, 'rule', 'maxAgeSeconds');
  const names = [...new Set(all.map(({ fact }) => fact))];
  const maxAge = compileMaxAge(report, 'spec.rule.maxAgeSeconds', ages, names);
  checkHistory(report, all, spec);
  return { conditions, ...(gate && { gate }), verify, maxAge, reads, tests };
}

interface Trees {
  readonly conditions: Tree;
  readonly gate?: Tree;
}

function compileRule(report: Report, path: string, written: unknown): Trees | undefined {
  const rule = recordAt(report, path, written);
  if (!rule) return undefined;
  refuseOtherKeys(report, path, rule, RULE_KEYS);
  const conditions = compileTree(report, `${path}.conditions`, valueAt(rule, 'conditions'));
  const condition = valueAt(rule, 'gate');
  const hasGate = condition !== undefined && condition !== null;
  const gate = hasGate ? compileTree(report, `${path}.gate`, condition) : undefined;
  return conditions && { conditions, ...(gate && { gate }) };
}

/** Two weeks, as the kind has it by default. */
const JOB_TTL = 1_209_600;

/** History is counted from jobs: of jobs that are gone already nobody knows. */
function checkHistory(report: Report, refs: readonly FactRef[], spec: object): void {
  const ttl = Number(valueAt(spec, 'job', 'ttlSeconds') ?? JOB_TTL);
  const windows = refs
    .filter(({ fact }) => fact === 'history')
    .map(({ params }) => Number(params['windowSeconds']));
  const longest = Math.max(0, ...windows);
  // Not the other way round: of what is no number the schema speaks.
  if (!(longest > ttl)) return;
  const message = `a condition asks for the history of ${longest} seconds, but jobs are kept for ${ttl}: raise it`;
  report('spec.job.ttlSeconds', message);
}
