/** What a run breaks on purpose, to show that its promise is judged: a port of the controllers, a guard of the ledger, or the agent. */
import type { GrantPort } from '../../../api/grants.ts';
import type { Client } from '../../../kube/client/client.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { NodeFacts } from '../../../rules/live/node-facts.ts';

export const BREAKAGES = [
  /** The job controller never learns that the fault is gone. */
  'GuardIgnored',
  /** Its grants are never settled. */
  'GrantKept',
  /** What it uncordons stays cordoned. */
  'CordonKept',
  /** The ledger has no limit of concurrency. */
  'BudgetIgnored',
  /** The agent reboots again when it is back. */
  'RebootRepeated',
] as const;
export type Breakage = (typeof BREAKAGES)[number];

type JobGrants = Pick<GrantPort, 'ask' | 'renew' | 'settle'>;

export function grantsOf(grants: JobGrants, broken: Breakage | undefined): JobGrants {
  if (broken !== 'GrantKept') return grants;
  return {
    ask: (asks) => grants.ask(asks),
    renew: (renewals) => grants.renew(renewals),
    settle: () => Promise.resolve(),
  };
}

export function factsOf(facts: NodeFacts, broken: Breakage | undefined): NodeFacts {
  if (broken !== 'GuardIgnored') return facts;
  return { read: () => () => ({ status: 'True', observedSeconds: 600 }) };
}

/** Its answer tells of a Node that is still cordoned. */
export function clientOf<C extends Pick<Client, 'patch'>>(client: C, broken: Breakage | undefined): C {
  if (broken !== 'CordonKept') return client;
  return {
    ...client,
    patch: (resource, name, options) => {
      const isUncordon = (each: { op?: string; path?: string }): boolean =>
        each.op === 'remove' && each.path === '/spec/unschedulable';
      const body = options.body as unknown as { op?: string; path?: string }[];
      const kept = resource.kind === NODES.kind ? body.filter((each) => !isUncordon(each)) : body;
      return client.patch(resource, name, { ...options, body: kept as never });
    },
  };
}
