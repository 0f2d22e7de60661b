/** Collects the Leases and labels of Pods that policies name, beyond what is always observed. Pure. */
import type { DefenderPolicy } from '../../../api/generated/types.ts';
import { NAMESPACE_OF_NODE_LEASES } from '../../../api/names.ts';
import { BLOCKING_PODS } from '../observed-views.ts';
import { namespaceOfLease } from './lease-names.ts';

export interface NamedSigns {
  /** Patterns of Leases. */
  readonly leases: readonly string[];
  /** Selectors of Pods. */
  readonly podLabels: readonly string[];
  readonly selections: readonly SignSelection[];
}

/** Selects what is watched: the Leases of a namespace, or the Pods with a label. */
export interface SignSelection {
  readonly kind: 'Lease' | 'Pod';
  readonly of: string;
}

/** The selector of a view of all Pods. */
export const ALL_PODS = '';

/** Each is a watch of its own in every replica. What is beyond is not observed, and policies that name it deny. */
export const MAX_SELECTIONS = 32;

export function namedSigns(policies: readonly Pick<DefenderPolicy, 'spec'>[]): NamedSigns {
  const leases = distinct(
    policies.flatMap(({ spec }) => spec.blockers.foreign.flatMap(({ lease = [] }) => lease)),
  );
  const podLabels = distinct(policies.flatMap(({ spec }) => spec.blockers.podLabels)).filter(
    (label) => label !== BLOCKING_PODS,
  );
  // Policies that name those of kubelets are refused, and would be a watch of every node's heartbeat.
  const namespaces = distinct(leases.flatMap((pattern) => namespaceOfLease(pattern) ?? [])).filter(
    (namespace) => namespace !== NAMESPACE_OF_NODE_LEASES,
  );
  const selections = [
    ...namespaces.map((of): SignSelection => ({ kind: 'Lease', of })),
    ...podLabels.map((of): SignSelection => ({ kind: 'Pod', of })),
  ];
  return { leases, podLabels, selections: selections.slice(0, MAX_SELECTIONS) };
}

export function selectionKey({ kind, of }: SignSelection): string {
  return `${kind} ${of}`;
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted();
}
