/**
 * Breaks a part of a run on purpose, to show that its promise is judged: a port of the controllers, a guard of the ledger, or the agent.
 */
import type { GrantPort } from '../../../api/grants.ts';
import type { Client } from '../../../kube/client/client.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { PowerState, PowerSwitches } from '../../../providers/power.ts';

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
  /** A switch that has accepted a request reads as if it were carried out. Of a run with power. */
  'OffUnconfirmed',
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

export function switchesWith(switches: PowerSwitches, broken: Breakage | undefined): PowerSwitches {
  if (broken !== 'OffUnconfirmed') return switches;
  const accepted = new Map<string, PowerState>();
  return {
    open: async (machine, way, signal) => {
      const { name } = machine.metadata;
      const found = await switches.open(machine, way, signal);
      if ('because' in found) return found;
      return {
        way,
        state: async (stop) => accepted.get(name) ?? (await found.state(stop)),
        request: async (desired, stop) => {
          await found.request(desired, stop);
          accepted.set(name, desired);
        },
      };
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
