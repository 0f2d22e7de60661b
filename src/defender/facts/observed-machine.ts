/** The facts of one machine, from its Machine, its Node and the Pods on it. What was not observed is absent. Pure. */
import { RISKS } from '../../api/enums.ts';
import type { Machine } from '../../api/generated/types.ts';
import { LABEL_EXCLUDE, LABEL_MACHINESET, LABEL_POOL, TAINT_NOT_INITIALIZED } from '../../api/names.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Labels } from '../../kube/objects/selector.ts';
import { holdsOf } from '../../rollout/holds.ts';
import { dimensionsOf } from './dimensions.ts';
import type { MachineFacts, RepairFact } from './facts.ts';
import type { Faults } from './fault-since.ts';

export interface ObservedMachine {
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node: KubeObject | undefined;
  /** Undefined: Pods were not observed. */
  readonly blockingPods: Labels | undefined;
  /** When the readiness became Unknown, by our own clock. */
  readonly unknownSince: Date | undefined;
  /** Undefined: no condition of the Node shows a fault. */
  readonly faults: Faults | undefined;
}

const ZONE = 'topology.kubernetes.io/zone';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';

export function observedFacts(observed: ObservedMachine): MachineFacts {
  const { machine, node, blockingPods, unknownSince, faults } = observed;
  const { spec, metadata } = machine;
  // The Machine wins: a kubelet may set labels of its own Node.
  const labels = { ...node?.metadata.labels, ...spec.node.labels, ...metadata.labels };
  const readiness = readinessOf(node);
  const zone = spec.zone ?? labels[ZONE];
  const pool = poolOf(metadata.labels ?? {});
  return {
    name: metadata.name,
    labels,
    ...optional('zone', zone),
    ...optional('pool', pool),
    ...optional('nodeUID', node?.metadata.uid),
    ...optional('nodeCreatedAt', dateOf(node?.metadata.creationTimestamp)),
    readiness,
    ...(readiness === 'Unknown' ? optional('unknownSince', unknownSince) : {}),
    established: isEstablished(machine, node),
    cordoned: valueAt(node, 'spec', 'unschedulable') === true,
    taints: taintKeys(node),
    ...optional('blockingPods', blockingPods),
    holds: holdsOf(machine, node),
    excluded: labels[LABEL_EXCLUDE] !== undefined,
    paused: false,
    repairs: repairsOf(machine),
    isControlPlane: labels[CONTROL_PLANE] !== undefined,
    dimensions: dimensionsOf({ zone, pool, labels }, machine, node),
    ...optional('faults', faults),
  };
}

export function poolOf(labels: Labels): string | undefined {
  return labels[LABEL_POOL] ?? labels[LABEL_MACHINESET];
}

/** A Node that was deleted does not serve. */
export function readinessOf(node: KubeObject | undefined): MachineFacts['readiness'] {
  if (!node) return 'NotReady';
  const status = textAt(readyCondition(node), 'status');
  if (status === 'True') return 'Ready';
  return status === 'False' ? 'NotReady' : 'Unknown';
}

/** Written by another clock: used only for a machine that was Unknown before we observed it. */
export function readyTransition(node: KubeObject | undefined): Date | undefined {
  return dateOf(textAt(readyCondition(node), 'lastTransitionTime'));
}

function readyCondition(node: KubeObject | undefined): unknown {
  return listAt(node, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Ready');
}

/** The taint goes when the machine is Ready for the first time; a machine whose Node was deleted had one. */
function isEstablished({ status }: Machine, node: KubeObject | undefined): boolean {
  if (!node) return status?.node?.uid !== undefined;
  return !taintKeys(node).includes(TAINT_NOT_INITIALIZED);
}

function taintKeys(node: KubeObject | undefined): readonly string[] {
  return listAt(node, 'spec', 'taints').flatMap((taint) => textAt(taint, 'key') ?? []);
}

function repairsOf({ status }: Machine): readonly RepairFact[] {
  const recent = status?.repairs?.recent ?? [];
  return recent
    .flatMap(({ at, risk = 'None' }): readonly RepairFact[] => {
      const time = dateOf(at);
      if (!time || risk === 'None') return [];
      // The record has no steps: a repair of this risk may have rebooted.
      return [{ at: time, rebooted: RISKS.indexOf(risk) >= RISKS.indexOf('Node') }];
    })
    .toSorted((a, b) => +b.at - +a.at);
}

function dateOf(text: string | undefined): Date | undefined {
  const moment = Date.parse(text ?? '');
  return Number.isNaN(moment) ? undefined : new Date(moment);
}
