/** Adds to the audit record what is not in it yet. Pure. */
import type { AuditAct, AuditCommit, AuditLine } from '../../../api/audit/lines.ts';
import type { Release } from '../../../api/generated/types.ts';
import {
  type AuditedLedger,
  inFlightActs,
  ledgerLineKey,
  ledgerLines,
  NO_ENTRIES,
} from '../../../defender/audit/acts.ts';
import { optional } from '../../../kube/objects/optional.ts';

/** Returns the acts of the ledger that the record does not have: those in flight, and those that ended seconds ago. */
export function currentActs(
  ledger: AuditedLedger,
  recorded: readonly AuditLine[],
  now: Date,
): readonly AuditLine[] {
  const known = new Set(recorded.map(ledgerLineKey));
  const ended = ledgerLines(NO_ENTRIES, ledger, now).filter((line) => !known.has(ledgerLineKey(line)));
  const acts: readonly AuditAct[] = inFlightActs(ledger);
  return [...ended, ...acts].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Describes the commits that the hub still has Releases of. Lines of the record are newer, and count before these. */
export function commitLines(releases: readonly Release[]): readonly AuditCommit[] {
  return releases.map(({ metadata, spec }) => {
    const { commit, pipeline, author, subject, signer, plan } = spec;
    return {
      type: 'commit',
      at: metadata.creationTimestamp ?? '',
      commit,
      pipeline,
      cluster: '',
      ...optional('author', author),
      ...optional('subject', subject),
      ...optional('signer', signer),
      plan: plan.digest,
    };
  });
}
