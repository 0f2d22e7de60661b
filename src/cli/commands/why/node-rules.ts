/** Reads what the rules of the cluster answer on one machine, except those that do not apply or match there. */
import { NODE_REMEDIERS } from '../../../api/generated/resources.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { withNodeFacts } from '../../fleet/node-facts.ts';
import { collect } from '../../fleet/read.ts';
import { type RuleView, sortViews, viewRule } from '../../fleet/rule-explanation.ts';
import type { Io } from '../../io.ts';

const QUIET: readonly RuleView['outcome'][] = ['NoMatch', 'NotSelected'];

/** Reads the views of the rules. Empty where the person may not read what facts are read from, such as Events and Leases. */
export async function readNodeRules(io: Io, client: Client, name: string): Promise<readonly RuleView[]> {
  try {
    const remediers = await collect(client, NODE_REMEDIERS, { signal: io.signal }, (each) => each);
    if (remediers.length === 0) return [];
    return await withNodeFacts(io, client, { name }, async (node) => {
      const views: RuleView[] = [];
      for (const remedier of remediers) views.push(await viewRule(remedier, node));
      return sortViews(views).filter(({ outcome }) => !QUIET.includes(outcome));
    });
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return [];
    throw error;
  }
}
