/** Reads selectors of Pods and nodes. What is not as Kubernetes defines it throws, so that its Pod is unknown. Pure. */
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { LabelExpression, LabelSelector, Labels } from '../../kube/objects/selector.ts';

const OPERATORS: readonly unknown[] = [
  'In',
  'NotIn',
  'Exists',
  'DoesNotExist',
] satisfies LabelExpression['operator'][];

/** Selects nothing when it is absent, and everything when it is empty. */
export function selectorAt(value: unknown, ...path: readonly string[]): LabelSelector {
  const selector = valueAt(value, ...path);
  if (selector === undefined) return { all: false };
  const matchLabels = labelsAt(selector, 'matchLabels');
  const matchExpressions = listAt(selector, 'matchExpressions').map((expression): LabelExpression => {
    const { key, operator, values } = expressionOf(expression);
    if (!isLabelOperator(operator)) throw new Error(`operator ${operator} of ${key}`);
    return { key, operator, values };
  });
  return { all: true, matchLabels, matchExpressions };
}

function isLabelOperator(operator: string): operator is LabelExpression['operator'] {
  return OPERATORS.includes(operator);
}

export function labelsAt(value: unknown, ...path: readonly string[]): Labels {
  const labels = valueAt(value, ...path) ?? {};
  if (!isRecord(labels)) throw new Error(path.join('.'));
  return Object.fromEntries(Object.entries(labels).map(([key, label]) => [key, String(label)]));
}

export interface NodeExpression {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export function expressionOf(value: unknown): NodeExpression {
  const key = textAt(value, 'key');
  const operator = textAt(value, 'operator');
  if (key === undefined || operator === undefined) throw new Error('an expression without key or operator');
  return { key, operator, values: textsAt(value, 'values') };
}

export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((each) => typeof each === 'string');
}
