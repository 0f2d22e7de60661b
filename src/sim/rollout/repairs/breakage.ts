/**
 * Breaks a part of a run on purpose, to show that its promise is judged: a port of the controllers, a guard of the ledger, or the agent.
 */
import type { GrantPort } from '../../../api/grants.ts';
import type { Client } from '../../../kube/client/client.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';

export const BREAKAGES = [
  /** The job controller does not find the rule, and so never learns that the fault has ended. */
  'GuardIgnored',
  /** The grants of the job controller are never settled. */
  'GrantKept',
  /** A Node that the job controller uncordons stays cordoned. */
  'CordonKept',
  /** The ledger has no limit of concurrency. */
  'BudgetIgnored',
  /** The agent reboots again when it is back. */
  'RebootRepeated',
] as const;
export type Breakage = (typeof BREAKAGES)[number];

type JobGrants = Pick<GrantPort, 'ask' | 'renew' | 'settle'>;

export function jobGrantsWith(grants: JobGrants, broken: Breakage | undefined): JobGrants {
  if (broken !== 'GrantKept') return grants;
  return {
    ask: (asks) => grants.ask(asks),
    renew: (renewals) => grants.renew(renewals),
    settle: () => Promise.resolve(),
  };
}

/** Wraps the client so that the answer to a patch shows a Node that is still cordoned. */
export function jobClientWith<C extends Pick<Client, 'patch'>>(client: C, broken: Breakage | undefined): C {
  if (broken !== 'CordonKept') return client;
  return {
    ...client,
    patch: (resource, name, options) => {
      // A JSON patch.
      const body = options.body as unknown as readonly Operation[];
      const kept = resource.kind === NODES.kind ? body.filter((each) => !isUncordon(each)) : body;
      return client.patch(resource, name, { ...options, body: kept as never });
    },
  };
}

interface Operation {
  readonly op: string;
  readonly path: string;
}

function isUncordon({ op, path }: Operation): boolean {
  return op === 'remove' && path === '/spec/unschedulable';
}
