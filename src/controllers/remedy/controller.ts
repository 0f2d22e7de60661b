/** Checks the rules of NodeRemediers, as kubenode-remedy. Every choice is made in plan.ts. */
import { NODE_REMEDIERS } from '../../api/generated/resources.ts';
import type { NodeRemedier } from '../../api/generated/types.ts';
import { inactiveFields } from '../../api/inactive/find.ts';
import { MANAGER_REMEDY, NAMESPACE, PRINCIPAL_REMEDY } from '../../api/names.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { specOrConditionsChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { checkRule } from '../../rules/rule-tests.ts';
import { remedierStatus, ruleDigest } from './plan.ts';

/** More rules than a fleet has. */
const MAX_CHECKED = 1000;

export function createRemedyController(): Controller {
  const problemsOf = createRuleCheck();
  return {
    name: 'remedy',
    reads: [read(NODE_REMEDIERS, { changed: specOrConditionsChanged })],
    writes: ['NodeRemedier.status'],
    fieldManager: MANAGER_REMEDY,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_REMEDY },
    reconcile: (name, context) => reconcile(name, problemsOf, context),
  };
}

type RuleCheck = (remedier: NodeRemedier) => Promise<readonly Problem[]>;

async function reconcile(
  name: string,
  problemsOf: RuleCheck,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const remedier = context.view<NodeRemedier>(NODE_REMEDIERS).get(name);
  if (!remedier) return {};
  const problems = await problemsOf(remedier);
  const status = remedierStatus({ remedier, problems, now: context.clock.now() });
  const { status: fitting } = truncateToSchema({ ...remedier, status });
  context.reportStatus(NODE_REMEDIERS, { metadata: { name }, status: fitting });
  return {};
}

/** A rule is compiled and tested once in a process, not whenever its status or its commit changes. */
function createRuleCheck(): RuleCheck {
  const checked = new Map<string, readonly Problem[]>();
  return async (remedier) => {
    const digest = ruleDigest(remedier);
    const problems = checked.get(digest) ?? [
      ...(await checkRule(remedier.spec)),
      ...inactiveFields(remedier),
    ];
    if (checked.size >= MAX_CHECKED) checked.clear();
    checked.set(digest, problems);
    return problems;
  };
}
