/**
 * Which conditions of the Node this detector writes. Two writers of one condition would overwrite each other, so it stands by
 * where node-problem-detector or another program reports the same. Pure.
 */
import { isRecord, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export interface NodeCondition {
  readonly type: string;
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
}

export type NodeWithConditions = KubeObject & {
  readonly status?: { readonly conditions?: readonly NodeCondition[] };
};

export interface WritersInput {
  readonly node: NodeWithConditions;
  readonly types: readonly string[];
  /** Field manager of this agent. */
  readonly manager: string;
  /** Whether a process of node-problem-detector runs on this host. */
  readonly otherDetectorRuns: boolean;
  readonly now: Date;
}

export interface WritersPlan {
  /** What this detector writes. */
  readonly write: readonly string[];
  /** Of these, another program was the last writer, but it writes no more. */
  readonly takeOver: readonly string[];
  readonly standby: readonly StandbyCondition[];
}

export interface StandbyCondition {
  readonly type: string;
  readonly because: string;
}

/** Three heartbeats of node-problem-detector, which writes every five minutes. */
const GONE_MS = 15 * 60_000;

export function planWriters({ node, types, manager, otherDetectorRuns, now }: WritersInput): WritersPlan {
  const standby: StandbyCondition[] = [];
  const takeOver: string[] = [];
  for (const type of types) {
    const writer = otherWriter(node, type, manager);
    const because = standbyReason(writer, otherDetectorRuns, isAlive(node, type, now));
    if (because !== undefined) standby.push({ type, because });
    else if (writer !== undefined) takeOver.push(type);
  }
  const write = types.filter((type) => standby.every((each) => each.type !== type));
  return { write, takeOver, standby };
}

function standbyReason(
  writer: string | undefined,
  otherDetectorRuns: boolean,
  isCurrent: boolean,
): string | undefined {
  if (otherDetectorRuns) return 'node-problem-detector runs on this host';
  return writer !== undefined && isCurrent ? `${writer} writes it` : undefined;
}

function otherWriter(node: NodeWithConditions, type: string, manager: string): string | undefined {
  const key = `k:${JSON.stringify({ type })}`;
  const found = node.metadata.managedFields?.find((entry) => {
    const fields = valueAt(entry, 'fieldsV1', 'f:status', 'f:conditions', key);
    return entry.manager !== manager && isRecord(fields) && 'f:status' in fields;
  });
  return found?.manager;
}

function isAlive({ status }: NodeWithConditions, type: string, now: Date): boolean {
  const condition = status?.conditions?.find((each) => each.type === type);
  const lastMs = Date.parse(condition?.lastHeartbeatTime ?? condition?.lastTransitionTime ?? '');
  return now.getTime() - lastMs < GONE_MS;
}
