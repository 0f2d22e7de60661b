/** Compares what this controller has written of a Machine with what the owner has now. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Machine } from '../../api/generated/types.ts';
import { ANNOTATION_BOOTSTRAP, ANNOTATION_OWNER_HOLD, GROUP } from '../../api/names.ts';
import { isRecord, valueAt } from '../../kube/objects/json.ts';
import type { ManagedFields } from '../../kube/objects/object.ts';
import type { FollowedObject } from '../../providers/followed.ts';
import type { OwnerMarks } from './owner.ts';

/** Holds what our Machine has of theirs. */
export interface FollowedMachine {
  readonly name: string;
  readonly object: FollowedObject;
  readonly zone: string | undefined;
  readonly labels: Labels;
  readonly hold: string | undefined;
  /** The record of its bootstrap config; undefined: there is none. */
  readonly bootstrap: string | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** Tells whether the controller that follows this owner wrote the Machine. A provider is copied easily: the field manager shows who created it. */
export function isOwn(machine: Machine, owner: OwnerMarks): boolean {
  return machine.spec.infra.provider === owner.provider && ownFields(machine, owner).length > 0;
}

function ownFields({ metadata }: Machine, owner: OwnerMarks): readonly ManagedFields[] {
  return (metadata.managedFields ?? []).filter(
    ({ manager, operation, subresource }) =>
      manager === owner.manager && operation === 'Apply' && subresource === undefined,
  );
}

/** Returns the names of what differs. */
export function differences(
  desired: FollowedMachine,
  machine: Machine,
  owner: OwnerMarks,
): readonly string[] {
  const { metadata, spec } = machine;
  const pairs: readonly (readonly [string, boolean])[] = [
    ['object', isDeepStrictEqual(spec.infra.config, { ...desired.object })],
    ['zone', spec.zone === desired.zone],
    ['labels', hasLabels(machine, desired.labels, owner)],
    ['hold', metadata.annotations?.[ANNOTATION_OWNER_HOLD] === desired.hold],
    ['bootstrap', metadata.annotations?.[ANNOTATION_BOOTSTRAP] === desired.bootstrap],
  ];
  return pairs.flatMap(([name, isSame]) => (isSame ? [] : [name]));
}

/** Also that no label of this controller is left which theirs has no more. Labels of others stay. */
function hasLabels(machine: Machine, desired: Labels, owner: OwnerMarks): boolean {
  const { labels = {} } = machine.metadata;
  return (
    Object.entries(desired).every(([key, value]) => labels[key] === value) &&
    ownLabelKeys(machine, owner).every((key) => Object.hasOwn(desired, key))
  );
}

/** Returns the labels that this controller has written. */
export function ownLabels(machine: Machine, owner: OwnerMarks): Labels {
  const { labels = {} } = machine.metadata;
  return Object.fromEntries(ownLabelKeys(machine, owner).map((key) => [key, labels[key] ?? '']));
}

function ownLabelKeys(machine: Machine, owner: OwnerMarks): readonly string[] {
  return ownFields(machine, owner).flatMap(({ fieldsV1 }) => {
    const labels = valueAt(fieldsV1, 'f:metadata', 'f:labels');
    return isRecord(labels) ? Object.keys(labels).flatMap((key) => key.match(/^f:(.+)$/)?.[1] ?? []) : [];
  });
}

/** Labels of kubenode have a meaning here, such as the set of a machine: those of theirs are left out. */
export function labelsOfTheirs(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !isOurKey(key)));
}

function isOurKey(key: string): boolean {
  const [prefix = ''] = key.split('/');
  return prefix === GROUP || prefix.endsWith(`.${GROUP}`);
}
