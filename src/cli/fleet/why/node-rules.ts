/** Reads what the rules of the cluster answer on one machine, except those that do not apply or match there. */
import { NODE_REMEDIERS } from '../../../api/generated/resources.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Io } from '../../io.ts';
import { withNodeFacts } from '../node-facts.ts';
import { collect } from '../read.ts';
import { type RuleView, sortViews, viewRule } from '../rule-explanation.ts';
import type { UnknownPart } from './format.ts';

const QUIET: readonly RuleView['outcome'][] = ['NoMatch', 'NotSelected'];

export interface NodeRules {
  readonly views: readonly RuleView[];
  /** Names what the person may not read. */
  readonly unknown: readonly UnknownPart[];
}

/** The facts of rules are read from Nodes, Events and Leases, too: who may not read one of them gets no view. */
export async function readNodeRules(
  io: Pick<Io, 'clock' | 'signal' | 'err'>,
  client: Client,
  name: string,
): Promise<NodeRules> {
  try {
    const remediers = await collect(client, NODE_REMEDIERS, { signal: io.signal }, (each) => each);
    if (remediers.length === 0) return { views: [], unknown: [] };
    const views = await withNodeFacts(io, client, { name }, async (node) => {
      const all: RuleView[] = [];
      for (const remedier of remediers) all.push(await viewRule(remedier, node));
      return sortViews(all).filter(({ outcome }) => !QUIET.includes(outcome));
    });
    return { views, unknown: [] };
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    return {
      views: [],
      unknown: [{ part: 'rules', because: `what rules find is not known: ${error.message}` }],
    };
  }
}
