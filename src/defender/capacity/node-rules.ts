/** Tells whether labels and taints of one node keep a Pod away from it. Pure. */
import { ownValue } from '../../kube/objects/json.ts';
import type { CapacityNode, Taint } from './node.ts';
import type { NodeTerm, PodNeeds, Toleration } from './pod.ts';
import type { NodeExpression } from './selectors.ts';

export function matchesNode({ nodeSelector, nodeTerms }: PodNeeds, { name, labels }: CapacityNode): boolean {
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (ownValue(labels, key) !== value) return false;
  }
  return nodeTerms?.some((term) => matchesTerm(term, name, labels)) ?? true;
}

/** A term without expressions matches nothing. */
function matchesTerm(
  { labels: own, names }: NodeTerm,
  name: string,
  labels: CapacityNode['labels'],
): boolean {
  if (own.length + names.length === 0) return false;
  const isNamed = names.every((each) => each.key === 'metadata.name' && matches(each, name));
  return isNamed && own.every((each) => matches(each, ownValue(labels, each.key)));
}

/** An operator that is unknown matches nothing. */
function matches({ operator, values }: NodeExpression, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return compares(operator, value, values[0]);
  }
}

const INTEGER = /^-?\d+$/;

function compares(operator: string, value = '', limit = ''): boolean {
  if (!INTEGER.test(value) || !INTEGER.test(limit)) return false;
  if (operator === 'Gt') return Number(value) > Number(limit);
  return operator === 'Lt' && Number(value) < Number(limit);
}

export function refusingTaint(
  { tolerations }: PodNeeds,
  { taints }: Pick<CapacityNode, 'taints'>,
): Taint | undefined {
  return taints.find((taint) => !tolerations.some((each) => tolerates(each, taint)));
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return isUnset(key) || key === taint.key;
  return operator === 'Equal' && key === taint.key && value === taint.value;
}

/** Without a key, all taints are meant. */
function isUnset(key: string | undefined): boolean {
  return key === undefined || key === '';
}
