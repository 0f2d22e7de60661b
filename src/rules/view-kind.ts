/** Declares what facts, commands, recordings and replays need to know about a view. */
import type { Indexers } from '../kube/cache/store-index.ts';
import type { KubeObject, Resource } from '../kube/objects/object.ts';
import type { RecordedFields } from './facts/reading/recorded.ts';

export interface ViewSelection {
  readonly namespace?: string;
  readonly fieldSelector?: string;
}

export interface FactViewKind<T extends KubeObject = KubeObject> {
  /** Names what the view holds, for messages. */
  readonly title: string;
  readonly resource: Resource;
  /** Selects the objects that the view holds. Absent: all of the kind. */
  readonly selection?: ViewSelection;
  /** Selects what concerns one node, for a command that reads once. Absent: the same as for all nodes. */
  readonly ofNode?: (node: string) => ViewSelection;
  /** Set if no controller reads these objects, so that the facts need a view of their own. */
  readonly isOwn?: true;
  /** The paths that nothing reads: controllers keep the objects without them. */
  readonly omit?: readonly string[];
  readonly indexers?: Indexers<T>;
  /** The machine that an object is about. Absent: the tracker of facts knows it, or objects are read by name. */
  readonly machineOf?: (object: T) => string;
  /** A recording keeps when the holder of a Lease was silent, or objects. */
  readonly recorded: 'Lease' | RecordedObjects;
}

export interface RecordedObjects {
  /** The fields that the plan of a repair reads. Those that facts read are declared by the facts. */
  readonly fields: RecordedFields;
  /** The fields that a recorded object must have beside its name, because they are read without a check. */
  readonly required?: readonly (readonly string[])[];
}
