/** Which PodDisruptionBudgets cover a pod. Pure. */
import { isRecord, listAt, textAt, valueAt } from '../objects/json.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { isSelected, type LabelExpression, type Labels } from '../objects/selector.ts';

export const BUDGETS: Resource = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};

/** Sorted `namespace/name`. An empty selector covers every pod of the namespace, a missing one none. */
export function coveringBudgets(pod: KubeObject, budgets: readonly KubeObject[]): readonly string[] {
  const { namespace, labels = {} } = pod.metadata;
  return budgets
    .filter((budget) => budget.metadata.namespace === namespace && isCovering(budget, labels))
    .map(({ metadata }) => `${namespace}/${metadata.name}`)
    .toSorted();
}

function isCovering(budget: KubeObject, labels: Labels): boolean {
  const selector = valueAt(budget, 'spec', 'selector');
  if (!isRecord(selector)) return false;
  const matchLabels = valueAt(selector, 'matchLabels');
  return isSelected(
    {
      all: true,
      ...(isRecord(matchLabels) ? { matchLabels: matchLabels as Labels } : {}),
      matchExpressions: listAt(selector, 'matchExpressions').map(expressionOf),
    },
    labels,
  );
}

/** The API server has validated it. */
function expressionOf(value: unknown): LabelExpression {
  return {
    key: textAt(value, 'key') ?? '',
    operator: textAt(value, 'operator') as LabelExpression['operator'],
    values: listAt(value, 'values').map(String),
  };
}
