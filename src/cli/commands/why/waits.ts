/** Lists what a machine, its rules, its jobs and its acts wait for, as the controllers recorded it. Pure. */
import { LEDGER } from '../../../api/names.ts';
import type { ObjectWait } from '../../../defender/explain.ts';
import type { ObservedViews } from '../../../defender/facts/observed-views.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { ruleWaitHint } from '../../../views/fleet/rule-wait-hints.ts';
import { hintBeside, unblockHint } from '../../../views/fleet/unblock.ts';

export function waitsOf(views: ObservedViews, name: string): readonly ObjectWait[] {
  const { machines, jobs } = views;
  const own = [machines.store.get(name)].flatMap((machine) => machine ?? []);
  const ofIt = [...jobs.store.list()].filter(({ spec }) => spec.machine.name === name);
  const waits = [...own, ...ofIt].flatMap(({ kind, metadata, status }) => {
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
  return [...ruleWaits(views, name), ...waits, ...approvalWaits(views, name)];
}

/** Explains why rules that found a fault, or know too little, begin no repair: as the leading controllers recorded it. */
function ruleWaits({ machines }: ObservedViews, name: string): readonly ObjectWait[] {
  const waiting = machines.store.get(name)?.status?.remedyWaits ?? [];
  return waiting
    .toSorted((a, b) => (a.rule < b.rule ? -1 : 1))
    .map(({ rule, ...wait }) => ({
      object: `NodeRemedier ${rule}`,
      ...wait,
      ...optional('unblock', ruleWaitHint(wait.reason, rule, name)),
    }));
}

/** Lists the acts that wait for the answer of a person, as the leading controllers recorded them. */
function approvalWaits({ ledgers }: ObservedViews, name: string): readonly ObjectWait[] {
  const waiting = ledgers.store.get(LEDGER)?.status?.approvals ?? [];
  return waiting
    .filter(({ machine }) => machine === name)
    .map(({ action, holder, since, message }) => ({
      object: `${action} by ${holder.kind} ${holder.name}`,
      reason: 'ApprovalPending',
      since,
      ...optional('message', message),
    }));
}
