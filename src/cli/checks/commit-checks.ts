/**
 * The checks of a commit in sync and `kubenode plan`: the schemas of our kinds, what policies and components may not contain, and
 * the tests inside rules.
 */
import { FLEET_DEFAULT, GROUP } from '../../api/names.ts';
import { type Problem, validate } from '../../api/validation/validate.ts';
import { type DeclaredPolicySpec, looserNumbers } from '../../defender/policies/looser.ts';
import { unapprovedPercentages } from '../../defender/policies/machine-percent.ts';
import { declaredPolicyProblems } from '../../defender/policies/problems.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { checkRule } from '../../rules/rule-tests.ts';
import type { ObjectChecks } from '../../sync/judge/object-checks.ts';
import { createComponentCheck } from './component-checks.ts';
import { createPermitCheck } from './rule-permits.ts';
import { findWindowProblems } from './window-checks.ts';

/** More rules than a fleet has; at about 4 KiB each the cache stays below 4 MiB. */
const MAX_CACHED = 1000;

export function createCommitChecks(): ObjectChecks {
  const checkComponent = createComponentCheck();
  return {
    schema: (object) =>
      object.apiVersion.startsWith(`${GROUP}/`)
        ? [
            ...validate(object),
            ...findPolicyProblems(object),
            ...findWindowProblems(object),
            ...(checkComponent(object)?.problems ?? []),
          ]
        : [],
    ruleTests: cacheRuleTests((object) => findRuleProblems(object)),
    beside: (objects) => {
      const all = [...objects];
      const checks = [looserPolicyProblems(all), createPermitCheck(all)];
      return (object) => checks.flatMap((check) => check(object));
    },
  };
}

/** Why a NodeRemedier does not compile or fails its own tests. Empty for objects of other kinds. */
export async function findRuleProblems(object: KubeObject): Promise<readonly Problem[]> {
  return isRule(object) ? checkRule(object['spec']) : [];
}

/**
 * Why a DefenderPolicy could not be decided by (applied, it would deny every ask), and what no policy may permit. Empty for objects
 * of other kinds.
 */
export function findPolicyProblems(object: KubeObject): readonly Problem[] {
  if (!isPolicy(object)) return [];
  const spec = validPolicySpec(object);
  return [
    ...(spec ? declaredPolicyProblems(object).map((message) => ({ path: 'spec', message })) : []),
    ...(spec ? unapprovedPercentages(spec) : []),
  ];
}

/** Compares policies with the `fleet-default` of the same cluster. One that is not in this repository cannot be compared with. */
function looserPolicyProblems(objects: Iterable<KubeObject>): (object: KubeObject) => readonly Problem[] {
  let fleetDefault: DeclaredPolicySpec | undefined;
  for (const object of objects) {
    if (object.metadata.name === FLEET_DEFAULT) fleetDefault = validPolicySpec(object) ?? fleetDefault;
  }
  return (object) => {
    const spec = fleetDefault ? validPolicySpec(object) : undefined;
    return spec && fleetDefault ? looserNumbers(spec, fleetDefault) : [];
  };
}

/** Undefined for other kinds, and when the schema refuses it. */
export function validPolicySpec(object: KubeObject): DeclaredPolicySpec | undefined {
  if (!isPolicy(object) || validate(object).length > 0) return undefined;
  // What the schema accepts has these types, but for fields that the API server fills in.
  return object['spec'] as DeclaredPolicySpec;
}

function isPolicy({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'DefenderPolicy' && apiVersion.startsWith(`${GROUP}/`);
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
