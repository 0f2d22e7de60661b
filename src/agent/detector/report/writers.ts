/**
 * Decides which conditions of the Node this detector writes. Two writers of one condition would overwrite each other, so it stands by for
 * each condition that node-problem-detector or another program writes now. Pure.
 */
import {
  type ConditionOwners,
  conditionOwners,
  findCondition,
  type NodeCondition,
  type NodeWithConditions,
  otherWriter,
  ownedTypes,
} from './condition-owners.ts';

export interface WritersInput {
  readonly node: NodeWithConditions;
  readonly types: readonly string[];
  /** The field manager of this agent. */
  readonly manager: string;
  readonly silence: WriterSilence;
}

/** Reports how long the other writers of conditions are silent. */
export interface WriterSilence {
  /** Returns the time since the last heartbeat of the condition by another writer. */
  heartbeatMs(type: string): number;
  /** Returns the time since a program with the name of the manager last ran on this host; undefined when that is unknown. */
  programMs(manager: string): number | undefined;
}

export interface WritersPlan {
  /** The types of the conditions that this detector writes. */
  readonly write: readonly string[];
  /** The types among `write` of which another program was the last writer, but which it writes no longer. */
  readonly takeOver: readonly string[];
  readonly standby: readonly StandbyCondition[];
  /**
   * The conditions that are applied unchanged: the fields that the agent owns of a condition of which another program owns fields, too.
   * Without them the API server would delete the condition.
   */
  readonly keep: readonly NodeCondition[];
  /** The types of the conditions that belong to the agent alone and that no file declares any more. */
  readonly remove: readonly string[];
}

export interface StandbyCondition {
  readonly type: string;
  readonly because: string;
  /** The field manager of the writer. */
  readonly writer: string;
}

/** The time after which a heartbeat is missing: node-problem-detector writes every five minutes, and this is a minute later. */
const MISSED_HEARTBEAT_MS = 6 * 60_000;
/**
 * The time after which a program has ended: longer than a restart of node-problem-detector takes. With the time until its end is noticed it
 * is still within a minute.
 */
const ENDED_MS = 45_000;

export function planWriters({ node, types, manager, silence }: WritersInput): WritersPlan {
  const standby: StandbyCondition[] = [];
  const takeOver: string[] = [];
  for (const type of types) {
    const writer = otherWriter(conditionOwners(node, type, manager))?.manager;
    if (writer === undefined) continue;
    if (isSilent(type, writer, silence)) takeOver.push(type);
    else standby.push({ type, because: `${writer} writes it`, writer });
  }
  const write = types.filter((type) => standby.every((each) => each.type !== type));
  const rest = ownedTypes(node, manager).filter((type) => !write.includes(type));
  const kept = rest.filter((type) => conditionOwners(node, type, manager).others.length > 0);
  return {
    write,
    takeOver,
    standby,
    keep: kept.map((type) => ownPart(node, type, conditionOwners(node, type, manager))),
    remove: rest.filter((type) => !kept.includes(type)),
  };
}

export function isSilent(type: string, writer: string, silence: WriterSilence): boolean {
  const heartbeatMs = silence.heartbeatMs(type);
  const programMs = silence.programMs(writer);
  if (heartbeatMs >= MISSED_HEARTBEAT_MS) return true;
  return programMs !== undefined && Math.min(programMs, heartbeatMs) >= ENDED_MS;
}

/** Returns the fields that the agent owns of a condition, with the values that the Node has now, so that applying them changes nothing. */
function ownPart(node: NodeWithConditions, type: string, { own }: ConditionOwners): NodeCondition {
  const found = findCondition(node, type) ?? {};
  return { ...Object.fromEntries(Object.entries(found).filter(([field]) => own.includes(field))), type };
}
