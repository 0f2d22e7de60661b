/** Judges the labels by which a person names the Nodes of node groups: they must not name each Node of a cluster. Pure. */
import type { LabelSelector } from '../../../kube/objects/selector.ts';
import { parseSelectorText } from './selector-text.ts';

export interface NodeGroupSelector {
  /** As the person wrote it, for messages. */
  readonly text: string;
  readonly selector: LabelSelector;
}

/** Labels that each kubelet gives its Node. */
const OF_EACH_NODE = ['arch', 'hostname', 'os'].flatMap((name) => [
  `kubernetes.io/${name}`,
  `beta.kubernetes.io/${name}`,
]);

/** Returns the selector, or what was expected instead. */
export function nodeGroupSelector(text: string): NodeGroupSelector | string {
  const selector = parseSelectorText(text);
  if (!selector) {
    return `expected labels as kubectl takes them, such as KEY=VALUE or KEY in (A,B), got ${JSON.stringify(text)}`;
  }
  const isNarrow = selector.matchExpressions?.some(
    ({ key, operator }) => (operator === 'In' || operator === 'Exists') && !OF_EACH_NODE.includes(key),
  );
  if (isNarrow) return { text, selector };
  return `expected a label that only the Nodes of node groups have, got ${JSON.stringify(text)}, which all Nodes of a cluster may match`;
}
