/** The content of the revisions of a set, kept as ControllerRevisions: what a rollback returns to. Pure. */
import type { MachineComponentEntry, MachineComponentSet } from '../../../api/generated/types.ts';
import { entryContent } from '../../../api/machine/entry-content.ts';
import { NAMESPACE } from '../../../api/names.ts';
import type { Intent } from '../../../kube/controller/intent.ts';
import { isRecord, listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import type { RolloutProgress } from '../rollout/input.ts';
import { type Revision, revisionOf } from './resolve.ts';

export const CONTROLLER_REVISIONS: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
};

export function storedName({ metadata: { name } }: MachineComponentSet, revision: string): string {
  return `${name}-${revision}`;
}

/** Builds the ControllerRevision of a revision. The garbage collector deletes it with its set. */
export function storedRevision(set: MachineComponentSet, revision: Revision, number: number): Intent {
  const { apiVersion, kind, metadata } = set;
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true };
  return {
    metadata: { name: storedName(set, revision.name), namespace: NAMESPACE, ownerReferences: [owner] },
    data: { components: revision.components },
    revision: number,
  };
}

/** Reads a stored revision. Undefined when its content is not that of its name. */
export function readRevision(name: string, stored: KubeObject | undefined): Revision | undefined {
  const components = listAt(stored, 'data', 'components').filter(isContent).map(entryContent);
  const revision = revisionOf(components);
  return stored && revision.name === name ? revision : undefined;
}

function isContent(value: unknown): value is MachineComponentEntry {
  return isRecord(value) && textAt(value, 'name') !== undefined && isRecord(value['parameters']);
}

export interface NeededRevisions extends Pick<RolloutProgress, 'history'> {
  /** The revision that is asked for, and the one that is rolled out: a set that is paused has two. */
  readonly updateRevisions: readonly (string | undefined)[];
}

/** Returns the stored revisions of this set that are of no use any more. */
export function outdatedRevisions(
  set: MachineComponentSet,
  { history, updateRevisions }: NeededRevisions,
  stored: readonly KubeObject[],
): readonly KubeObject[] {
  const revisions = [...history.map(({ revision }) => revision), ...updateRevisions];
  const kept = new Set(revisions.flatMap((each) => (each === undefined ? [] : storedName(set, each))));
  return stored.filter(({ metadata }) => isOwn(set, metadata.ownerReferences) && !kept.has(metadata.name));
}

function isOwn(
  { metadata: { uid } }: MachineComponentSet,
  owners: KubeObject['metadata']['ownerReferences'],
): boolean {
  return owners?.some((owner) => owner.uid === uid) === true;
}
