/** Label selectors of our kinds. An empty one selects nothing: to select everything takes `all: true`. */
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
  const wanted = Object.entries(matchLabels ?? {});
  const expressions = matchExpressions ?? [];
  if (wanted.length + expressions.length === 0) return all;
  return (
    wanted.every(([key, value]) => labels[key] === value) &&
    expressions.every((expression) => holds(expression, labels))
  );
}

/** As in Kubernetes: NotIn also holds where the label is missing. */
function holds({ key, operator, values }: LabelExpression, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
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
