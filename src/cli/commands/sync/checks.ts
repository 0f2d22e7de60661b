/** The checks of a commit in sync and `kubenode plan`: the schemas of our kinds, and the tests inside rules. */

import { GROUP } from '../../../api/names.ts';
import { type Problem, validate } from '../../../api/validation/validate.ts';
import { declaredPolicyProblems } from '../../../defender/policies/problems.ts';
import { unsupportedPolicyFields } from '../../../defender/policies/unsupported.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { checkRule } from '../../../rules/rule-tests.ts';
import type { ObjectChecks } from '../../../sync/judge/object-checks.ts';

/** More rules than a fleet has; at about 4 KiB each the cache stays below 4 MiB. */
const MAX_CACHED = 1000;

export function createCommitChecks(): ObjectChecks {
  return {
    schema: (object) =>
      object.apiVersion.startsWith(`${GROUP}/`) ? [...validate(object), ...findPolicyProblems(object)] : [],
    ruleTests: cacheRuleTests((object) => findRuleProblems(object)),
  };
}

/** Why a NodeRemedier does not compile or fails its own tests. Empty for objects of other kinds. */
export async function findRuleProblems(object: KubeObject): Promise<readonly Problem[]> {
  return isRule(object) ? checkRule(object['spec']) : [];
}

/**
 * What of a DefenderPolicy this version would ignore, and why it could not be decided by: applied, it would deny every ask. Empty for
 * objects of other kinds.
 */
export function findPolicyProblems(object: KubeObject): readonly Problem[] {
  const isPolicy = object.kind === 'DefenderPolicy' && object.apiVersion.startsWith(`${GROUP}/`);
  if (!isPolicy) return [];
  const problems = validate(object).length > 0 ? [] : declaredPolicyProblems(object);
  return [
    ...unsupportedPolicyFields({ spec: object['spec'] }),
    ...problems.map((message) => ({ path: 'spec', message })),
  ];
}

function isRule({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'NodeRemedier' && apiVersion.startsWith(`${GROUP}/`);
}

/** Most clusters have the same rules: tests each rule once. */
function cacheRuleTests(runTests: ObjectChecks['ruleTests']): ObjectChecks['ruleTests'] {
  const answers = new Map<string, readonly Problem[]>();
  return async (object) => {
    if (!isRule(object)) return [];
    const key = JSON.stringify(object['spec'] ?? null);
    const answer = answers.get(key) ?? (await runTests(object));
    if (answers.size >= MAX_CACHED) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}
