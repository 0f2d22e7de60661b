/** Describes our machines for the decisions of the update extension: which are asked about, and what keeps one from an update. Pure. */
import type { Machine } from '../../../../api/generated/types.ts';
import { type EntryContent, entryDigest } from '../../../../api/machine/entry-content.ts';
import { ANNOTATION_BOOTSTRAP } from '../../../../api/names.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { isSelected } from '../../../../kube/objects/selector.ts';
import { followedObject } from '../../../../providers/followed.ts';
import { holdInForce } from '../../../../rollout/holds.ts';
import { type BootstrapRecord, readBootstrapRecord } from './files/record.ts';
import type { EntryRules } from './kubelet-version.ts';
import type { AskedObject } from './protocol.ts';

/** The machines and Nodes of kubenode, and what component sets decide. */
export interface UpdateFacts {
  readonly machines: readonly Machine[];
  readonly nodeOf: (name: string) => KubeObject | undefined;
  readonly rules: EntryRules;
  readonly now: Date;
}

/** Returns our Machines for what Cluster API asks about. */
export function machinesAskedAbout(asked: AskedObject, machines: readonly Machine[]): readonly Machine[] {
  const { selector, namespace, name } = asked;
  return machines.filter((machine) => {
    const object = followedObject(machine);
    const isLeaving = machine.metadata.deletionTimestamp !== undefined;
    if (object?.namespace !== namespace || isLeaving) return false;
    return selector ? isSelected(selector, machine.metadata.labels ?? {}) : object.name === name;
  });
}

export function recordIn({ metadata: { annotations } }: Machine): BootstrapRecord | undefined {
  return readBootstrapRecord(annotations?.[ANNOTATION_BOOTSTRAP]);
}

export function noRecordReason({ metadata: { name } }: Machine): string {
  return `${name} has no annotation ${ANNOTATION_BOOTSTRAP} with the files of its KubeadmConfig`;
}

export function pinnedReason({ metadata: { name } }: Machine, entry: EntryContent): string {
  return `${entry.name} of ${name} is pinned by another owner: remove the pin to have it follow Cluster API`;
}

export function updateHoldReason(machine: Machine, { nodeOf, now }: UpdateFacts): string | undefined {
  const { name } = machine.metadata;
  const hold = holdInForce(machine, nodeOf(name), now);
  return hold && `${name} is held: ${hold.reason}`;
}

export function isPresent({ spec }: Machine, entry: EntryContent): boolean {
  const present = spec.components.find(({ name }) => name === entry.name);
  return present !== undefined && entryDigest(present) === entryDigest(entry);
}
