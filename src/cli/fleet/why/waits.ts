/** Lists what a machine, its rules, its jobs and its acts wait for, as the controllers recorded it. Pure. */

import type { DefenderLedger, Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import { LEDGER } from '../../../api/names.ts';
import type { ObjectWait } from '../../../defender/explain.ts';
import type { ObservedViews } from '../../../defender/facts/observed-views.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { ruleWaitHint } from '../../../views/fleet/rule-wait-hints.ts';
import { hintBeside, unblockHint } from '../../../views/fleet/unblock.ts';

/** Holds a Machine, its own jobs, and the ledger. */
export interface WaitingObjects {
  readonly machine: Machine | undefined;
  readonly jobs: readonly RemedyOperationJob[];
  readonly ledger: DefenderLedger | undefined;
}

export function waitsOf({ machines, jobs, ledgers }: ObservedViews, name: string): readonly ObjectWait[] {
  return objectWaits({
    machine: machines.store.get(name),
    jobs: [...jobs.store.list()].filter(({ spec }) => spec.machine.name === name),
    ledger: ledgers.store.get(LEDGER),
  });
}

export function objectWaits({ machine, jobs, ledger }: WaitingObjects): readonly ObjectWait[] {
  if (!machine) return [];
  const { name } = machine.metadata;
  const waits = [machine, ...jobs].flatMap(({ kind, metadata, status }) => {
    if (!status?.waiting) return [];
    const { reason, since, message } = status.waiting;
    const unblock = kind === 'Machine' ? hintBeside(name, unblockHint(status.waiting)) : undefined;
    return {
      object: `${kind} ${metadata.name}`,
      reason,
      since,
      ...optional('message', message),
      ...optional('unblock', unblock),
    };
  });
  return [...ruleWaits(machine), ...waits, ...approvalWaits(ledger, name)];
}

/** Explains why rules that found a fault, or know too little, begin no repair: as the leading controllers recorded it. */
function ruleWaits({ metadata: { name }, status }: Machine): readonly ObjectWait[] {
  return (status?.remedyWaits ?? [])
    .toSorted((a, b) => (a.rule < b.rule ? -1 : 1))
    .map(({ rule, ...wait }) => ({
      object: `NodeRemedier ${rule}`,
      ...wait,
      ...optional('unblock', ruleWaitHint(wait.reason, rule, name)),
    }));
}

/** Lists the acts that wait for the answer of a person, as the leading controllers recorded them. */
function approvalWaits(ledger: DefenderLedger | undefined, name: string): readonly ObjectWait[] {
  return (ledger?.status?.approvals ?? [])
    .filter(({ machine }) => machine === name)
    .map(({ action, holder, since, message }) => ({
      object: `${action} by ${holder.kind} ${holder.name}`,
      reason: 'ApprovalPending',
      since,
      ...optional('message', message),
    }));
}
