/** How a Machine differs from the template of its set, and what the set writes. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Machine, MachineNode, MachineSet } from '../../api/generated/types.ts';
import { LABEL_MACHINESET, LABEL_MANAGED_BY, MANAGED_BY, MANAGER_MACHINESET } from '../../api/names.ts';
import type { Intent } from '../../kube/controller/intent.ts';
import { isRecord, valueAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { ownerReference } from './ownership.ts';

export interface TemplateDifferences {
  /** Paths in the template that the set may write to a machine that runs. */
  readonly inPlace: readonly string[];
  /** Paths that only another machine can have. */
  readonly replacement: readonly string[];
}

/** A machine that is to be created, or one that exists and keeps what cannot change. */
export interface IntendedMachine {
  readonly name: string;
  readonly zone: string | undefined;
  readonly machine?: Machine;
}

export function templateDifferences(set: MachineSet, machine: Machine): TemplateDifferences {
  const { template } = set.spec;
  const { infra, host, node, deletion } = machine.spec;
  const evicts = addsNoExecute(template.node, node);
  const inPlace: readonly (readonly [path: string, isSame: boolean])[] = [
    ['labels', hasLabels(set, machine)],
    ['node.labels', isSameMap(template.node.labels, node.labels)],
    ['node.annotations', isSameMap(template.node.annotations, node.annotations)],
    ['node.taints', evicts || isDeepStrictEqual(taintsOf(template.node), taintsOf(node))],
    ['deletion', isDeepStrictEqual(template.deletion, deletion)],
  ];
  const replacement: readonly (readonly [path: string, isSame: boolean])[] = [
    // It cannot be changed in a set: a machine that the set adopted may have another one.
    ['infra.provider', template.infra.provider === infra.provider],
    ['infra.config', isDeepStrictEqual(template.infra.config, infra.config)],
    ['host.type', template.host.type === host.type],
    ['node.taints', !evicts],
  ];
  return { inPlace: different(inPlace), replacement: different(replacement) };
}

export function machineIntent(set: MachineSet, { name, zone, machine }: IntendedMachine): Intent<Machine> {
  const { template } = set.spec;
  const kept = machine?.spec ?? template;
  const taints = addsNoExecute(template.node, kept.node) ? kept.node.taints : template.node.taints;
  return {
    metadata: { name, labels: labelsOf(set), ownerReferences: [ownerReference(set)] },
    spec: {
      infra: kept.infra,
      host: kept.host,
      ...optional('zone', zone),
      node: { ...template.node, taints },
      deletion: template.deletion,
    },
  };
}

function different(fields: readonly (readonly [path: string, isSame: boolean])[]): readonly string[] {
  return fields.flatMap(([path, isSame]) => (isSame ? [] : [path]));
}

function labelsOf({ metadata, spec }: MachineSet): Readonly<Record<string, string>> {
  return { ...spec.template.labels, [LABEL_MACHINESET]: metadata.name, [LABEL_MANAGED_BY]: MANAGED_BY };
}

/** All that it should have, and none that the template had before. */
function hasLabels(set: MachineSet, { metadata }: Machine): boolean {
  const desired = labelsOf(set);
  const isComplete = Object.entries(desired).every(([key, value]) => metadata.labels?.[key] === value);
  return isComplete && ownedLabels(metadata.managedFields).every((key) => Object.hasOwn(desired, key));
}

function ownedLabels(managed: Machine['metadata']['managedFields'] = []): readonly string[] {
  const own = managed.find(
    ({ manager, operation, subresource }) =>
      manager === MANAGER_MACHINESET && operation === 'Apply' && subresource === undefined,
  );
  const labels = valueAt(own?.fieldsV1, 'f:metadata', 'f:labels');
  return isRecord(labels) ? Object.keys(labels).map((field) => field.slice('f:'.length)) : [];
}

/** It would evict pods without a grant. */
function addsNoExecute(template: MachineNode, node: MachineNode): boolean {
  const present = taintsOf(node);
  return taintsOf(template).some((taint) => taint.endsWith(':NoExecute') && !present.includes(taint));
}

/** In an order of their own: the API server keeps that of the first write. */
function taintsOf({ taints }: MachineNode): readonly string[] {
  return taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).toSorted();
}

function isSameMap(one: MachineNode['labels'] = {}, other: MachineNode['labels'] = {}): boolean {
  return isDeepStrictEqual(one, other);
}
