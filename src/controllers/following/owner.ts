/** Defines what the controllers that follow the machines of another system know of its objects. Each owner has its own contract. */
import type { FollowedProvider } from '../../api/enums.ts';
import type { Machine } from '../../api/generated/types.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';

/** An object of the owner that is about one instance. */
export interface OwnerObject {
  /** Undefined: its kind has no namespaces. */
  readonly namespace?: string;
  readonly name: string;
  readonly providerID: string | undefined;
  readonly node: string | undefined;
  readonly zone: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** Why the owner permits no disruption of a machine. */
export interface OwnerHold {
  readonly reason: string;
  readonly message: string;
}

export interface FollowOwner<Theirs extends OwnerObject> {
  readonly provider: FollowedProvider;
  /** The field manager, by which a Machine of kubenode is known as followed for this owner. */
  readonly manager: string;
  /** Logs that the objects can be read again, or why they cannot. */
  readonly logRead: (log: Log, because: string | undefined) => void;
  /** The fields of the objects that are read, for messages. */
  readonly fields: { readonly providerID: string; readonly node: string };
  /** The entries that `spec.infra.config` has beside the identity of the object. */
  readonly config: Readonly<Record<string, string>>;
  readonly textOf: (object: Pick<OwnerObject, 'namespace' | 'name'>) => string;
  /** Explains why the Node, which is on the instance of the object, belongs to another; undefined: it does not. */
  readonly otherOwnerReason: (object: Theirs & BoundObject, node: KubeObject) => string | undefined;
  /**
   * Explains why an object is not one of this owner, also by our Machine with the name of its Node. It gets no Machine and is not counted; a
   * Machine that it has is kept and held.
   */
  readonly leftOutReason?: (
    object: Theirs,
    machineOf: (name: string) => Machine | undefined,
  ) => OwnerHold | undefined;
  readonly holdOf: (object: Theirs, node: KubeObject | undefined) => OwnerHold | undefined;
  /** Explains why our Machine is kept although its object was not found; undefined: it goes. */
  readonly keptReason?: (machine: Machine) => OwnerHold | undefined;
  /** Returns the next value of ANNOTATION_BOOTSTRAP, from the object and the value before; undefined: none. */
  readonly bootstrapOf?: (object: Theirs, before: string | undefined) => string | undefined;
}

/** Tells by which parts of an owner its Machines are known. */
export type OwnerMarks = Pick<FollowOwner<OwnerObject>, 'provider' | 'manager'>;

/** An object that has its instance and its Node. */
export interface BoundObject extends OwnerObject {
  readonly providerID: string;
  readonly node: string;
}

/** Returns `namespace/name`, or the name of an object whose kind has no namespaces. */
export function ownerKey({ namespace, name }: Pick<OwnerObject, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Watches the objects of an owner. */
export interface FollowSource<Theirs extends OwnerObject> {
  /** Watches until the returned function is called. `changed` is called after each change of what `read` returns. */
  open(changed: () => void): () => void;
  /** Undefined: they are being listed for the first time. `nodes`: the Nodes of this cluster, for an owner that has no other object. */
  read(nodes: { list(): readonly KubeObject[] }): readonly Theirs[] | Unreadable | undefined;
  /** Reads them from the API server. Rejects if it cannot: what is not read completely is never missing. */
  list(signal: AbortSignal): Promise<readonly Theirs[]>;
}

/** Explains why nothing is known of the objects. */
export interface Unreadable {
  readonly unreadable: string;
}

export function isUnreadable(read: object): read is Unreadable {
  return 'unreadable' in read;
}
