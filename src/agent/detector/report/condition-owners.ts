/** Finds who owns the fields of a condition of the Node, by its managedFields. Pure. */
import { isRecord, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject, ManagedFields } from '../../../kube/objects/object.ts';

/** A condition of the Node, or the part of it that one program owns. */
export interface NodeCondition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
}

export type NodeWithConditions = KubeObject & {
  readonly status?: { readonly conditions?: readonly NodeCondition[] };
};

export interface ConditionOwners {
  /** Fields that this agent applied and still owns, alone or with others. `type` is one of them. */
  readonly own: readonly string[];
  readonly others: readonly OtherOwner[];
}

export interface OtherOwner {
  readonly manager: string;
  readonly fields: readonly string[];
  /** When the manager last wrote to the Node, by the clock of the API server. */
  readonly time?: string;
}

export function findCondition({ status }: NodeWithConditions, type: string): NodeCondition | undefined {
  return status?.conditions?.find((each) => each.type === type);
}

export function conditionOwners(node: NodeWithConditions, type: string, manager: string): ConditionOwners {
  const entries = (node.metadata.managedFields ?? []).flatMap((entry) => {
    const fields = ownedFields(entry, type);
    return fields ? [{ entry, fields }] : [];
  });
  const isOwn = ({ entry }: { readonly entry: ManagedFields }): boolean => isApplyOf(entry, manager);
  return {
    own: entries.filter(isOwn).flatMap(({ fields }) => fields),
    others: entries
      .filter((each) => !isOwn(each))
      .map(({ entry, fields }) => ({
        manager: entry.manager,
        fields,
        ...(entry.time === undefined ? {} : { time: entry.time }),
      })),
  };
}

/** Types of which this agent owns a field. */
export function ownedTypes(node: NodeWithConditions, manager: string): readonly string[] {
  const types = (node.status?.conditions ?? []).map(({ type }) => type);
  return types.filter((type) => conditionOwners(node, type, manager).own.length > 0);
}

/** The program that wrote the condition last: it owns a field that the agent, which applies all of them, does not own any more. */
export function otherWriter({ own, others }: ConditionOwners): OtherOwner | undefined {
  const writers = others.filter(({ fields }) => fields.some((field) => !own.includes(field)));
  return writers.find(({ fields }) => fields.includes(HEARTBEAT)) ?? writers[0];
}

/** Types whose last writer is that manager. */
export function typesOf(node: NodeWithConditions, writer: string, manager: string): readonly string[] {
  const types = (node.status?.conditions ?? []).map(({ type }) => type);
  return types.filter((type) => otherWriter(conditionOwners(node, type, manager))?.manager === writer);
}

export const HEARTBEAT = 'lastHeartbeatTime';

function isApplyOf(entry: ManagedFields, manager: string): boolean {
  return entry.manager === manager && entry.operation === 'Apply';
}

/** Returns the fields that the manager owns, without the item itself, which its creator owns for good. Undefined when it owns none. */
function ownedFields({ fieldsV1 }: ManagedFields, type: string): readonly string[] | undefined {
  const fields = valueAt(fieldsV1, 'f:status', 'f:conditions', `k:${JSON.stringify({ type })}`);
  if (!isRecord(fields)) return undefined;
  return Object.keys(fields).flatMap((key) => (key.startsWith('f:') ? [key.slice(2)] : []));
}
