/** Evaluates the rule of a job and the conditions of its verification with the facts of its node, as they are now. */
import type { NodeRemedier, RemedyOperationJob } from '../../../api/generated/types.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import type { Log } from '../../../kube/process/log.ts';
import { compileMaxAge } from '../../../rules/compile/max-age.ts';
import { compileTree } from '../../../rules/compile/tree.ts';
import { compileRule } from '../../../rules/compile.ts';
import {
  type CompiledRule,
  listFactRefs,
  type RuleOutcome,
  type Truth,
} from '../../../rules/compiled-rule.ts';
import type { NodeFacts } from '../../../rules/live/node-facts.ts';
import { createProblemCollector } from '../../../rules/problems.ts';
import { createRuleEvaluator, type RuleEvaluator } from '../../../rules/rule-evaluator.ts';
import { createTreeEvaluator, type TreeEvaluator } from '../../../rules/tree-evaluator.ts';

/** Holds what follows for a job from the facts of its node now. */
export interface JobTruth {
  /** The present outcome of the rule that led to the job. Indeterminate where the rule has changed since. */
  readonly rule: RuleOutcome;
  /** The present outcome of the rule of that name, also when it has changed since; undefined: it was deleted. */
  readonly presentFault: { readonly outcome: RuleOutcome; readonly clearSeconds: number } | undefined;
  /** Whether the conditions of `spec.verify` hold now. */
  readonly verified: Truth;
}

export interface JobEvaluator {
  evaluate(job: RemedyOperationJob, remedier: NodeRemedier | undefined): Promise<JobTruth>;
}

/** More rules and jobs than are active at a time. */
const MAX_COMPILED = 1000;

interface CompiledConditions<E> {
  readonly evaluate: E;
  readonly maxAge: CompiledRule['maxAge'];
}

export function createJobEvaluator(facts: NodeFacts, log: Pick<Log, 'warn'>): JobEvaluator {
  const rules = createCache<CompiledConditions<RuleEvaluator>>();
  const verifications = createCache<CompiledConditions<TreeEvaluator>>();
  return {
    async evaluate(job, remedier) {
      const verified = await attempt(job, 'Unknown', () => verification(job));
      if (!remedier) return { rule: 'Indeterminate', presentFault: undefined, verified };
      const digest = digestOf(remedier.spec);
      const outcome = await attempt(job, 'Indeterminate', () => ruleOutcome(job, remedier, digest));
      const { clearSeconds } = remedier.spec.rule;
      // A rule that changed since the job was created cannot refute it.
      const rule = digest === job.spec.cause.ruleDigest ? outcome : 'Indeterminate';
      return { rule, presentFault: { outcome, clearSeconds }, verified };
    },
  };

  async function ruleOutcome(
    { spec }: RemedyOperationJob,
    remedier: NodeRemedier,
    digest: string,
  ): Promise<RuleOutcome> {
    const rule = rules.get(digest, () => compiledRule(remedier));
    if (!rule) return 'Indeterminate';
    return (await rule.evaluate(facts.read(spec.machine.name, rule.maxAge))).outcome;
  }

  async function verification({ spec, metadata, status }: RemedyOperationJob): Promise<Truth> {
    const { verify } = spec;
    if (!verify) return 'Unknown';
    const key = metadata.uid ?? metadata.name;
    const compiled = verifications.get(key, () => compiledTree(verify.conditions));
    const verified = verify.target === 'Replacement' ? status?.replacement?.machine : spec.machine.name;
    if (!compiled || verified === undefined) return 'Unknown';
    return await compiled.evaluate(facts.read(verified, compiled.maxAge));
  }

  /** A source that fails makes nothing true or false. */
  async function attempt<T>(job: RemedyOperationJob, unknown: T, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      log.warn('facts of the job not evaluated', { job: job.metadata.name, error });
      return unknown;
    }
  }
}

function compiledRule({ spec }: NodeRemedier): CompiledConditions<RuleEvaluator> | undefined {
  const { rule } = compileRule(spec);
  return rule && { evaluate: createRuleEvaluator(rule), maxAge: rule.maxAge };
}

/** The ages are those that each fact has unless its rule has another one. */
function compiledTree(conditions: unknown): CompiledConditions<TreeEvaluator> | undefined {
  const { report, problems } = createProblemCollector();
  const tree = compileTree(report, 'spec.verify.conditions', conditions);
  if (!tree || problems().length > 0) return undefined;
  const names = [...new Set(listFactRefs([tree]).map(({ fact }) => fact))];
  const maxAge = compileMaxAge(report, 'spec.verify', undefined, names);
  return { evaluate: createTreeEvaluator(tree), maxAge };
}

interface CompiledCache<V> {
  readonly get: (key: string, compile: () => V | undefined) => V | undefined;
}

function createCache<V>(): CompiledCache<V> {
  const kept = new Map<string, V | undefined>();
  return {
    get(key, compile) {
      if (!kept.has(key)) {
        if (kept.size >= MAX_COMPILED) kept.clear();
        kept.set(key, compile());
      }
      return kept.get(key);
    },
  };
}
