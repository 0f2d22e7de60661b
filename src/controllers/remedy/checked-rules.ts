/** Compiles and tests each version of a rule once in a process, not whenever its status or its commit changes. */
import type { NodeRemedier } from '../../api/generated/types.ts';
import { inactiveFields } from '../../api/inactive/find.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { compileRule } from '../../rules/compile.ts';
import type { CompiledRule } from '../../rules/compiled-rule.ts';
import { createRuleIndex, type RuleIndex } from '../../rules/live/rule-index.ts';
import { createRuleEvaluator, type RuleEvaluator } from '../../rules/rule-evaluator.ts';
import { runRuleTests } from '../../rules/rule-tests.ts';

export interface CheckedRemedier {
  readonly digest: string;
  readonly problems: readonly Problem[];
  /** Absent when there are problems. */
  readonly accepted?: { readonly compiled: CompiledRule; readonly evaluate: RuleEvaluator };
}

export interface CheckedRules {
  check(remedier: NodeRemedier): Promise<CheckedRemedier>;
  /** Whether an accepted rule reads what changed. */
  affects(change: FactTopics): boolean;
}

type FactTopics = Parameters<RuleIndex['affected']>[0];

/** The most versions that are kept: more rules than a fleet has. */
const MAX_CHECKED = 1000;

/** Returns the digest of the whole spec. A job names it, so that people know which version of the rule acted. */
export function ruleDigest({ spec }: Pick<NodeRemedier, 'spec'>): string {
  return digestOf(spec);
}

export function createCheckedRules(): CheckedRules {
  const checked = new Map<string, Promise<CheckedRemedier>>();
  /** A spec that is in a view is never changed in place. */
  const digests = new WeakMap<NodeRemedier['spec'], string>();
  const accepted = new Map<string, CompiledRule>();
  let index: RuleIndex | undefined;
  return {
    affects: (change) => {
      index ??= createRuleIndex(accepted);
      return index.affected(change).length > 0;
    },
    check: (remedier) => {
      const digest = digests.get(remedier.spec) ?? ruleDigest(remedier);
      digests.set(remedier.spec, digest);
      const known = checked.get(digest);
      if (known) return known;
      if (checked.size >= MAX_CHECKED) {
        checked.clear();
        accepted.clear();
      }
      const found = checkRemedier(remedier, digest).then(indexed);
      checked.set(digest, found);
      return found;
    },
  };

  function indexed(rule: CheckedRemedier): CheckedRemedier {
    if (rule.accepted) accepted.set(rule.digest, rule.accepted.compiled);
    index = undefined;
    return rule;
  }
}

async function checkRemedier(remedier: NodeRemedier, digest: string): Promise<CheckedRemedier> {
  const { rule, problems } = compileRule(remedier.spec);
  const all = [...(rule ? await runRuleTests(rule) : problems), ...inactiveFields(remedier)];
  if (!rule || all.length > 0) return { digest, problems: all };
  return { digest, problems: [], accepted: { compiled: rule, evaluate: createRuleEvaluator(rule) } };
}
