/** By what sync and `kubenode plan` judge a commit: the schemas of our kinds, and the tests inside the rules. */

import { GROUP } from '../api/names.ts';
import { validate } from '../api/validate.ts';
import type { Checks } from '../sync/judge/refuse.ts';

export function commitChecks(): Checks {
  return {
    schema: (object) => (object.apiVersion.startsWith(`${GROUP}/`) ? validate(object) : []),
    ruleTests: () => [],
  };
}
