/** Label selectors of our kinds. An empty selector selects nothing; `all: true` selects everything. */
import { ownValue } from './json.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  readonly all: boolean;
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export function isSelected({ all, matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  const expressions = matchExpressions ?? [];
  let isEmpty = expressions.length === 0;
  // Called for each machine under each policy: without a list of entries.
  for (const key in matchLabels) {
    if (!Object.hasOwn(matchLabels, key)) continue;
    if (labels[key] !== matchLabels[key]) return false;
    isEmpty = false;
  }
  return isEmpty ? all : expressions.every((expression) => isMatching(expression, labels));
}

/** As in Kubernetes, NotIn also matches when the label is missing. */
function isMatching({ key, operator, values }: LabelExpression, labels: Labels): boolean {
  const value = ownValue(labels, key);
  const listed = value !== undefined && (values ?? []).includes(value);
  switch (operator) {
    case 'In':
      return listed;
    case 'NotIn':
      return !listed;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return operator satisfies never;
  }
}
