/** Reads what the agent reports in a list of the status of its Machine. It is as old as the last heartbeat of the agent. */
import { isRecord, listAt, textAt } from '../../../kube/objects/json.ts';
import { type FactAnswer, tooOldReason, unknownAnswer } from './answer.ts';
import { changedEntries } from './changed.ts';
import type { NodeSnapshot } from './snapshot.ts';

type ReportedEntry = Readonly<Record<string, unknown>>;

export interface AgentReports {
  /** Answers from the entry with this name; without one the fact is unknown. */
  readonly read: (
    snapshot: NodeSnapshot,
    maxAgeMs: number,
    name: string,
    answer: (entry: ReportedEntry, leftMs: number) => FactAnswer,
  ) => FactAnswer;
  /** Returns the names of the entries that a change of the Machine concerns. */
  readonly changes: (before: unknown, after: unknown) => readonly string[];
}

/** `key` is the field that names an entry, `what` is what an entry is about, for messages. */
export function createAgentReports(what: string, key: string, path: readonly string[]): AgentReports {
  return {
    read: (snapshot, maxAgeMs, name, answer) => {
      const { problems, agentAgeMs, machine } = snapshot;
      const problem =
        problems.machines ?? problems.agentLeases ?? tooOldReason('the agent', agentAgeMs, maxAgeMs);
      if (problem !== undefined) return unknownAnswer(problem);
      const entries = listAt(machine, ...path).filter(isRecord);
      const entry = entries.find((each) => textAt(each, key) === name);
      return entry
        ? answer(entry, maxAgeMs - agentAgeMs)
        : unknownAnswer(`the agent does not report ${what} ${name}`);
    },
    changes: (before, after) => changedEntries(key, before, after, path),
  };
}

/** Returns a duration in seconds that is not zero: zero means that the state does not exist. */
export function atLeastSome(ms: number): number {
  return Math.max(1, ms) / 1000;
}
