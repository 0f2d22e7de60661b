/**
 * Breaks a part of a run on purpose, to show that its promise is judged: a port of the controllers, a guard of the ledger, or the agent.
 */
import { REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../api/generated/types.ts';
import type { GrantPort } from '../../../api/grants.ts';
import type { Client } from '../../../kube/client/client.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { PowerState, PowerSwitches } from '../../../providers/power.ts';
import { type ProcessViews, viewsShowing } from './guard-breakage.ts';

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
  /** Before it switches off, the job controller reads the Node from its view again. Of a run with power, as the next one. */
  'RecheckIgnored',
  /** The job controller forgets that it has switched a machine on. */
  'OnForgotten',
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

/** Wraps the client of the job controller so that a live read finds what the view has. */
export function recheckWith<C extends Pick<Client, 'get'>>(
  client: C,
  { [NODES.kind]: nodes }: ProcessViews,
  broken: Breakage | undefined,
): C {
  if (broken !== 'RecheckIgnored') return client;
  const get: Client['get'] = (resource, name, options) => {
    const known = resource.kind === NODES.kind ? nodes?.store.get(name.name) : undefined;
    return known ? Promise.resolve(known as never) : client.get(resource, name, options);
  };
  return { ...client, get };
}

/** Shows the job controller its jobs without what it has recorded of a machine that it has switched on. */
export function powerViewsWith(views: ProcessViews, broken: Breakage | undefined): ProcessViews {
  return viewsShowing(views, REMEDY_OPERATION_JOBS, broken === 'OnForgotten' ? withoutOn : undefined);
}

function withoutOn(job: RemedyOperationJob): RemedyOperationJob {
  const { status } = job;
  if (!status?.steps) return job;
  const steps = status.steps.map((record) => {
    const { power, ...rest } = record;
    return power?.desired === 'On' && power.acceptedAt !== undefined ? rest : record;
  });
  return { ...job, status: { ...status, steps } };
}

interface Operation {
  readonly op: string;
  readonly path: string;
}

function isUncordon({ op, path }: Operation): boolean {
  return op === 'remove' && path === '/spec/unschedulable';
}
