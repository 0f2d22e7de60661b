/** Which clusters a selector means. It says everything aloud: an empty one selects nothing. */
import type { Cluster, MatchExpression, Selector } from '../../api/generated/types.ts';
import { LABEL_ENVIRONMENT, LABEL_REGION } from '../../api/names.ts';

type Labels = Readonly<Record<string, string>>;

/** Labels as selectors see them. Environment and region come from the spec, whatever the labels claim. */
export function labelsOf({ metadata, spec }: Pick<Cluster, 'metadata' | 'spec'>): Labels {
  return {
    ...metadata.labels,
    [LABEL_ENVIRONMENT]: spec.environment,
    ...(spec.region === undefined ? {} : { [LABEL_REGION]: spec.region }),
  };
}

export function selects({ all, matchLabels, matchExpressions }: Selector, labels: Labels): boolean {
  const wanted = Object.entries(matchLabels ?? {});
  const expressions = matchExpressions ?? [];
  if (wanted.length + expressions.length === 0) return all;
  return (
    wanted.every(([key, value]) => labels[key] === value) &&
    expressions.every((expression) => holds(expression, labels))
  );
}

/** As in Kubernetes: NotIn also holds where the label is missing. */
function holds({ key, operator, values }: MatchExpression, labels: Labels): boolean {
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
