/** By what sync and `kubenode plan` judge a commit: the schemas of our kinds, and the tests inside the rules. */

import { GROUP } from '../../../api/names.ts';
import { type Problem, validate } from '../../../api/validation/validate.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { problemsOf } from '../../../rules/rule-tests.ts';
import type { ObjectChecks } from '../../../sync/judge/object-checks.ts';

/** More rules than a fleet has; at about 4 KiB each they stay small. */
const MAX_REMEMBERED = 1000;

export function commitChecks(): ObjectChecks {
  return {
    schema: (object) => (object.apiVersion.startsWith(`${GROUP}/`) ? validate(object) : []),
    ruleTests: remembering((object) => ruleProblems(object)),
  };
}

/** Why an object is no rule, or fails its own tests. Of what is no NodeRemedier, nothing. */
export async function ruleProblems(object: KubeObject): Promise<readonly Problem[]> {
  return isRule(object) ? problemsOf(object['spec']) : [];
}

function isRule({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'NodeRemedier' && apiVersion.startsWith(`${GROUP}/`);
}

/** Most clusters have the same rules: each is tested once. */
function remembering(ask: ObjectChecks['ruleTests']): ObjectChecks['ruleTests'] {
  const answers = new Map<string, readonly Problem[]>();
  return async (object) => {
    if (!isRule(object)) return [];
    const key = JSON.stringify(object['spec'] ?? null);
    const answer = answers.get(key) ?? (await ask(object));
    if (answers.size >= MAX_REMEMBERED) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}
