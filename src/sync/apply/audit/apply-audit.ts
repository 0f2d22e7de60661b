/**
 * Records the writes of sync in a cluster in the audit record of that cluster. A line is durable before the inventory confirms the
 * object: a process that ends in between sends the object again, and records it then.
 */
import type { AuditCommit, AuditLine, AuditObject } from '../../../api/audit/lines.ts';
import type { AuditRecord } from '../../../api/audit/record.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import type { ObjectOutcome } from '../apply-steps.ts';
import { appliedLine, type PrunedObject, removedLine, type WriteContext } from './lines.ts';

/** Describes a commit as the hub knows it. */
export type CommitOrigin = Pick<
  AuditCommit,
  'author' | 'subject' | 'signer' | 'plan' | 'approvals' | 'rollback'
>;

/** Records for one reconcile. */
export interface ReconcileAudit {
  applied(outcomes: Iterable<ObjectOutcome>): Promise<void>;
  removed(objects: readonly PrunedObject[]): Promise<void>;
}

export interface ApplyAudit {
  of(pipeline: string, commit: string): ReconcileAudit;
}

type AuditedTarget = Pick<AuditCommit, 'pipeline' | 'commit'>;

export interface ApplyAuditOptions {
  readonly record: AuditRecord;
  readonly cluster: string;
  readonly origin?: (pipeline: string, commit: string) => CommitOrigin;
  readonly clock: Clock;
  readonly log: Log;
}

/** An object that others change again and again, or that the server refuses again and again, has a line in this time. */
const REPEATED_MS = 600_000;

export function createApplyAudit({ record, cluster, origin, clock, log }: ApplyAuditOptions): ApplyAudit {
  /** When a correction or a failure of an object was last recorded, and which. */
  const repeated = new Map<string, { readonly text: string; readonly atMs: number }>();
  let recordedCommit: string | undefined;
  let unrecorded: string | undefined;

  return {
    of(pipeline, commit) {
      /** A reconcile may plan again: outcomes before are recorded already. */
      const recorded = new WeakSet<ObjectOutcome>();
      const context = (): WriteContext => ({ commit, now: clock.now() });
      return {
        async applied(outcomes) {
          const added = [...outcomes].filter((outcome) => !recorded.has(outcome));
          await append(
            { pipeline, commit },
            added.map((outcome) => appliedLine(outcome, context())),
          );
          for (const outcome of added) recorded.add(outcome);
        },
        removed: (objects) =>
          append(
            { pipeline, commit },
            objects.map((object) => removedLine(object, context())),
          ),
      };
    },
  };

  async function append(target: AuditedTarget, lines: readonly AuditObject[]): Promise<void> {
    const fresh = lines.filter(isFresh);
    const [first] = fresh;
    if (!first) return;
    const head = commitLine(target, first.at);
    const key = JSON.stringify({ ...head, at: '' });
    const added: readonly AuditLine[] = recordedCommit === key ? fresh : [head, ...fresh];
    try {
      await record.append(added);
      recordedCommit = key;
      unrecorded = undefined;
      for (const line of fresh) remember(line);
    } catch (error) {
      reportMissing(error);
    }
  }

  /** A cluster with an earlier version of kubenode has no place for the record. Everything else fails the reconcile, which is repeated. */
  function reportMissing(error: unknown): void {
    if (!isKubeError(error, 'NotFound', 'Forbidden', 'Invalid')) throw error;
    if (error.message !== unrecorded) log.warn('writes not recorded for audit', { error });
    unrecorded = error.message;
  }

  /** Lines are sorted by their time: this one stays before those that it is about. */
  function commitLine({ commit, pipeline }: AuditedTarget, at: string): AuditCommit {
    const known = origin?.(pipeline, commit);
    return { type: 'commit', at, commit, pipeline, cluster, ...known };
  }

  function isFresh(line: AuditObject): boolean {
    const known = repeated.get(line.object);
    return known?.text !== textOf(line) || clock.monotonicMs() - known.atMs >= REPEATED_MS;
  }

  function remember(line: AuditObject): void {
    if (line.outcome === 'Succeeded' && line.act !== 'Corrected') repeated.delete(line.object);
    else repeated.set(line.object, { text: textOf(line), atMs: clock.monotonicMs() });
  }
}

/** Two lines with the same text describe the same write, repeated. */
function textOf({ act, outcome, commit, after, because }: AuditObject): string {
  return JSON.stringify([act, outcome, commit, after, because]);
}
