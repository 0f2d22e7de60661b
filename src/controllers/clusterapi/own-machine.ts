/** Compares what this controller has written of a Machine with what Cluster API has now. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Machine } from '../../api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD, GROUP, MANAGER_CLUSTERAPI } from '../../api/names.ts';
import { isRecord, valueAt } from '../../kube/objects/json.ts';
import type { ManagedFields } from '../../kube/objects/object.ts';
import { type FollowedObject, isFollowed } from '../../providers/followed.ts';

/** Holds what our Machine has of theirs. */
export interface FollowedMachine {
  readonly name: string;
  readonly object: FollowedObject;
  readonly zone: string | undefined;
  readonly labels: Labels;
  readonly hold: string | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** Tells whether this controller wrote the Machine. A provider is copied easily: the field manager shows who created it. */
export function isOwn(machine: Machine): boolean {
  return isFollowed(machine) && ownFields(machine).length > 0;
}

function ownFields({ metadata }: Machine): readonly ManagedFields[] {
  return (metadata.managedFields ?? []).filter(
    ({ manager, operation, subresource }) =>
      manager === MANAGER_CLUSTERAPI && operation === 'Apply' && subresource === undefined,
  );
}

/** Returns the names of what differs. */
export function differences(desired: FollowedMachine, machine: Machine): readonly string[] {
  const { metadata, spec } = machine;
  const pairs: readonly (readonly [string, boolean])[] = [
    ['object', isDeepStrictEqual(spec.infra.config, { ...desired.object })],
    ['zone', spec.zone === desired.zone],
    ['labels', hasLabels(machine, desired.labels)],
    ['hold', metadata.annotations?.[ANNOTATION_OWNER_HOLD] === desired.hold],
  ];
  return pairs.flatMap(([name, isSame]) => (isSame ? [] : [name]));
}

/** Also that no label of this controller is left which theirs has no more. Labels of others stay. */
function hasLabels(machine: Machine, desired: Labels): boolean {
  const { labels = {} } = machine.metadata;
  return (
    Object.entries(desired).every(([key, value]) => labels[key] === value) &&
    ownLabelKeys(machine).every((key) => Object.hasOwn(desired, key))
  );
}

/** Returns the labels that this controller has written. */
export function ownLabels(machine: Machine): Labels {
  const { labels = {} } = machine.metadata;
  return Object.fromEntries(ownLabelKeys(machine).map((key) => [key, labels[key] ?? '']));
}

function ownLabelKeys(machine: Machine): readonly string[] {
  return ownFields(machine).flatMap(({ fieldsV1 }) => {
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
