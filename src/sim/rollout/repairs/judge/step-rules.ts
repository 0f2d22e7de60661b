/** Finds what forbids a step that disturbs a node, by what is true in the API server at that moment. Pure. */
import type { DefenderLedger, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { KNOWN_AFTER_MS } from '../../judge/judged-fleet.ts';
import { KEYS } from './forbidden-since.ts';

export interface JudgedStep {
  readonly job: RemedyOperationJob;
  readonly ledger: DefenderLedger | undefined;
  readonly since: ReadonlyMap<string, number>;
  readonly atMs: number;
  /** The delay of a host: it acts later than what permitted it by as much as a release lives. */
  readonly lateMs: number;
}

export function stepViolations(judged: JudgedStep): readonly string[] {
  return [...forbiddenBecause(judged), ...grantViolations(judged)].map((why) => `a step ${why}`);
}

function forbiddenBecause({ job, since, atMs, lateMs }: JudgedStep): readonly string[] {
  const { name, uid } = job.spec.machine;
  const reasons: readonly (readonly [key: string, what: string])[] = [
    [KEYS.cleared(name, job.spec.cause.remedier), 'after its fault had ended'],
    [KEYS.held(name), 'on a machine that is held'],
    [KEYS.uncordoned(name, job.spec.grant.id), 'after a person had uncordoned the node'],
    [KEYS.replaced(job.spec.node.uid), 'for a Node that was replaced'],
    [KEYS.deleted(uid), 'for a machine that was deleted'],
    [KEYS.cancelled(job.metadata.uid ?? ''), 'of a job that was cancelled'],
  ];
  const late = reasons.filter(([key]) => atMs - (since.get(key) ?? atMs) > KNOWN_AFTER_MS + lateMs);
  const ended = job.status?.outcome === undefined ? [] : ['of a job that has ended'];
  return [...late.map(([, what]) => what), ...ended];
}

function grantViolations({ job: { spec }, ledger, atMs, lateMs }: JudgedStep): readonly string[] {
  const entry = ledger?.spec.grants[spec.machine.name];
  const isLive = entry?.id === spec.grant.id && entry.state !== 'Settled';
  if (!isLive) return ['without a grant in the ledger'];
  return Date.parse(entry.notAfter) + lateMs > atMs ? [] : ['with a grant that has ended'];
}
