/** Parses the value of --external-nodes-selector, which two commands have. */
import { InvalidArgumentError } from 'commander';
import { type NodeGroupSelector, nodeGroupSelector } from '../../controllers/following/nodegroup/selector.ts';

export function parseNodeGroupSelector(text: string): NodeGroupSelector {
  const selector = nodeGroupSelector(text);
  if (typeof selector !== 'string') return selector;
  throw new InvalidArgumentError(`${selector[0]?.toUpperCase()}${selector.slice(1)}.`);
}
