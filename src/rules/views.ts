/**
 * Lists the views that facts are read from. Controllers, commands, recordings and replays take from here all that they need to know
 * about a view.
 */
import {
  MACHINE_COMPONENTS,
  MACHINES,
  MAINTENANCE_EVENTS,
  REMEDY_OPERATION_JOBS,
} from '../api/generated/resources.ts';
import type { MaintenanceEvent, RemedyOperationJob } from '../api/generated/types.ts';
import { JOB_INDEXERS } from '../api/machine/jobs.ts';
import { NAMESPACE_AGENTS, NAMESPACE_OF_NODE_EVENTS, NAMESPACE_OF_NODE_LEASES } from '../api/names.ts';
import type { View } from '../kube/cache/view.ts';
import { LEASES } from '../kube/leader/record.ts';
import { NODE_EVENTS, NODES } from '../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../kube/objects/object.ts';
import { RECORDED_CONDITION } from './facts/reading/recorded.ts';
import type { FactViewKind, ViewSelection } from './view-kind.ts';

const VIEWS = {
  nodes: {
    title: 'Nodes',
    resource: NODES,
    ofNode: selectName,
    recorded: { fields: { spec: { unschedulable: true }, status: { conditions: RECORDED_CONDITION } } },
  },
  machines: {
    title: 'Machines',
    resource: MACHINES,
    ofNode: selectName,
    recorded: {
      fields: {
        spec: { hold: true, node: { labels: true } },
        status: { conditions: RECORDED_CONDITION, node: { uid: true, bootID: true }, faults: true },
      },
      required: [['spec', 'node']],
    },
  },
  jobs: {
    title: 'RemedyOperationJobs',
    resource: REMEDY_OPERATION_JOBS,
    ofNode: (node) => ({ fieldSelector: `spec.machine.name=${node}` }),
    indexers: JOB_INDEXERS,
    machineOf: ({ spec }: RemedyOperationJob) => spec.machine.name,
    recorded: {
      fields: {
        spec: {
          machine: true,
          node: true,
          cause: { remedier: true, case: true, commit: true, ruleDigest: true, faultClass: true },
          rung: true,
          attempt: true,
          group: true,
          risk: true,
          grant: { id: true, issuedAt: true },
          plan: { id: true, step: true },
          deadline: true,
          settle: true,
        },
        status: { conditions: RECORDED_CONDITION, outcome: { class: true }, timeline: true },
      },
      required: [
        ['spec', 'machine', 'name'],
        ['spec', 'node'],
        ['spec', 'cause', 'remedier'],
        ['spec', 'rung', 'index'],
        ['spec', 'grant', 'issuedAt'],
        ['spec', 'settle'],
        ['spec', 'plan'],
      ],
    },
  },
  events: {
    title: 'Events',
    resource: NODE_EVENTS,
    selection: { namespace: NAMESPACE_OF_NODE_EVENTS, fieldSelector: 'involvedObject.kind=Node' },
    ofNode: (node) => ({ fieldSelector: `involvedObject.kind=Node,involvedObject.name=${node}` }),
    isOwn: true,
    recorded: { fields: {} },
  },
  agentLeases: {
    title: 'Leases of agents',
    resource: LEASES,
    selection: { namespace: NAMESPACE_AGENTS },
    ofNode: selectName,
    recorded: 'Lease',
  },
  nodeLeases: {
    title: 'Leases of kubelets',
    resource: LEASES,
    selection: { namespace: NAMESPACE_OF_NODE_LEASES },
    ofNode: selectName,
    isOwn: true,
    omit: ['metadata.ownerReferences', 'spec.holderIdentity'],
    recorded: 'Lease',
  },
  components: {
    title: 'MachineComponents',
    resource: MACHINE_COMPONENTS,
    recorded: { fields: {} },
  },
  maintenance: {
    title: 'MaintenanceEvents',
    resource: MAINTENANCE_EVENTS,
    machineOf: ({ spec }: MaintenanceEvent) => spec.machine,
    recorded: {
      fields: {},
      required: [
        ['spec', 'machine'],
        ['spec', 'type'],
        ['spec', 'state'],
      ],
    },
  },
} satisfies Readonly<Record<string, FactViewKind<never>>>;

type Kinds = typeof VIEWS;
export type FactViewName = keyof Kinds;
export type ViewObject<V extends FactViewName> =
  Kinds[V]['resource'] extends Resource<infer T extends KubeObject> ? T : never;
export type LeaseView = ViewsWith<{ readonly recorded: 'Lease' }>;
export type ObjectView = Exclude<FactViewName, LeaseView>;
/** The views whose objects are each about one machine, of which it may have several. */
export type MachineView = ViewsWith<{ readonly machineOf: unknown }>;
type ViewsWith<P> = { readonly [V in FactViewName]: Kinds[V] extends P ? V : never }[FactViewName];

export type FactView<T extends KubeObject = KubeObject> = Pick<View<T>, 'store'> & {
  readonly reflector: Pick<View<T>['reflector'], 'freshness'>;
};
export type FactViews = { readonly [V in FactViewName]: FactView<ViewObject<V>> };

/** Each kind handles the objects of its own view only. */
export const FACT_VIEWS = VIEWS as unknown as Readonly<Record<FactViewName, FactViewKind>>;
export const FACT_VIEW_NAMES = Object.keys(VIEWS) as readonly FactViewName[];
export const LEASE_VIEWS = namesWith(({ recorded }) => recorded === 'Lease') as readonly LeaseView[];
export const OBJECT_VIEWS = namesWith(({ recorded }) => recorded !== 'Lease') as readonly ObjectView[];
export const MACHINE_VIEWS = namesWith(({ machineOf }) => machineOf !== undefined) as readonly MachineView[];

/** Creates one thing for each view. */
export function mapFactViews<R>(
  create: (kind: FactViewKind, name: FactViewName) => R,
): Readonly<Record<FactViewName, R>> {
  const all: Partial<Record<FactViewName, R>> = {};
  for (const name of FACT_VIEW_NAMES) all[name] = create(FACT_VIEWS[name], name);
  return all as Readonly<Record<FactViewName, R>>;
}

export function createFactViews(create: (kind: FactViewKind, name: FactViewName) => FactView): FactViews {
  // The view of a kind holds objects of its type.
  return mapFactViews(create) as unknown as FactViews;
}

function namesWith(matches: (kind: FactViewKind) => boolean): readonly FactViewName[] {
  return FACT_VIEW_NAMES.filter((name) => matches(FACT_VIEWS[name]));
}

function selectName(node: string): ViewSelection {
  return { fieldSelector: `metadata.name=${node}` };
}
