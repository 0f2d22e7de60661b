/**
 * Who was permitted what, and why: one line for each grant, settlement and answer of a person. The ledger forgets an act when it
 * stops lingering; logs are kept for longer.
 */
import type { LedgerApproval, LedgerGrant } from '../api/generated/types.ts';
import type { GrantAsk } from '../api/grants.ts';
import { optional } from '../kube/objects/optional.ts';
import type { Log } from '../kube/process/log.ts';
import type { DecidedRequest } from './ledger/ledger.ts';

export function logDecided(log: Log, { request, answer }: DecidedRequest): void {
  if (request.kind === 'ask' && !request.dryRun) logAsk(log, request.ask, answer);
  if (answer.kind !== 'done') return;
  if (request.kind === 'settle') {
    const { id, outcome } = request.settlement;
    log.info('settled', { grant: id, outcome });
  } else if (request.kind === 'approval') logAnswer(log, request.machine, request.approval);
  else if (request.kind === 'closeBreaker') {
    const { by, reason } = request.closure;
    log.info('breaker closed', { breaker: request.id, by, reason });
  }
}

function logAsk(log: Log, { machine, action, holder }: GrantAsk, answer: DecidedRequest['answer']): void {
  if (answer.kind === 'entry') log.info('granted', grantFields(machine, answer.entry));
  if (answer.kind !== 'denial') return;
  const { reason, message } = answer.denial;
  log.debug('denied', { machine, action, holder: nameOf(holder), reason, because: message });
}

function grantFields(machine: string, grant: LedgerGrant): Record<string, unknown> {
  const { id, fence, action, risk, holder, notAfter } = grant;
  const { origin, revision } = holder;
  const from = { ...optional('origin', origin), ...optional('revision', revision) };
  return { grant: id, fence, machine, action, risk, holder: nameOf(holder), ...from, notAfter };
}

function logAnswer(
  log: Log,
  machine: string,
  { action, holder, holderKind = 'Other', decision, by, reason }: LedgerApproval,
): void {
  const of = { machine, action, holder: nameOf({ kind: holderKind, name: holder }) };
  log.info('answered', { ...of, decision, by, ...optional('reason', reason) });
}

function nameOf({ kind, name }: Pick<LedgerGrant['holder'], 'kind' | 'name'>): string {
  return `${kind}/${name}`;
}
