/** Selects the lines of the audit record that a question is about, and joins them with what is known about their commits. Pure. */
import type { AuditAct, AuditCommit, AuditLine, AuditObject, AuditRollback } from '../../api/audit/lines.ts';
import { optional } from '../../kube/objects/optional.ts';

export interface AuditQuestion {
  /** Name of a Machine: its acts, the answers about them, and writes of the Machine itself. */
  readonly node?: string;
  /** `Kind/name` or `Kind/namespace/name`; the kind may have its group, as in `apps/Deployment/web/frontend`. */
  readonly object?: string;
  /** The start of a commit id. */
  readonly commit?: string;
  readonly since?: Date;
}

/** A line with the commit that is behind it. */
export interface AuditEntry {
  readonly line: Exclude<AuditLine, AuditCommit>;
  /** Describes the commit that brought the object, or the rule or set that an act was for. */
  readonly origin?: AuditCommit;
  /** The write that brought the rule or set that an act was for. */
  readonly source?: AuditObject;
}

/** Returns the entries, oldest first. `lines` are sorted by time. */
export function selectEntries(lines: readonly AuditLine[], question: AuditQuestion): readonly AuditEntry[] {
  const commits = commitsIn(lines);
  const sources = createSources(lines);
  const rollbacks = rollbacksIn(lines);
  return lines
    .flatMap((line) => (line.type === 'commit' ? [] : [entryOf(line, { commits, sources, rollbacks })]))
    .filter((entry) => isAsked(entry, question));
}

interface Known {
  readonly commits: ReadonlyMap<string, AuditCommit>;
  readonly sources: (act: AuditAct) => AuditObject | undefined;
  /** The rollback that each write was a part of. */
  readonly rollbacks: ReadonlyMap<AuditObject, AuditRollback>;
}

function entryOf(line: AuditEntry['line'], { commits, sources, rollbacks }: Known): AuditEntry {
  const source = line.type === 'act' ? sources(line) : undefined;
  const write = line.type === 'object' ? line : source;
  const commit = write && commits.get(write.commit);
  const origin = commit && write && { ...commit, ...optional('rollback', rollbacks.get(write)) };
  return { line, ...optional('origin', origin), ...optional('source', source) };
}

/** The same commit is applied before a rollback to it, and may be applied by git after it: the line before a write tells which it was. */
function rollbacksIn(lines: readonly AuditLine[]): ReadonlyMap<AuditObject, AuditRollback> {
  const last = new Map<string, AuditRollback | undefined>();
  const found = new Map<AuditObject, AuditRollback>();
  for (const line of lines) {
    if (line.type === 'commit') last.set(line.commit, line.rollback);
    const rollback = line.type === 'object' ? last.get(line.commit) : undefined;
    if (line.type === 'object' && rollback) found.set(line, rollback);
  }
  return found;
}

/**
 * The last line about a commit counts, field by field: the first may be from before its Release was created. A rollback is about single
 * writes.
 */
function commitsIn(lines: readonly AuditLine[]): ReadonlyMap<string, AuditCommit> {
  const found = new Map<string, AuditCommit>();
  for (const line of lines) {
    if (line.type !== 'commit') continue;
    const { rollback: _rollback, ...facts } = line;
    found.set(line.commit, { ...found.get(line.commit), ...facts });
  }
  return found;
}

/** Finds the content of the rule or set that was in the cluster when the grant was issued. */
function createSources(lines: readonly AuditLine[]): Known['sources'] {
  const writes = lines.flatMap((line) =>
    line.type === 'object' && line.outcome === 'Succeeded' ? [line] : [],
  );
  const byObject = Map.groupBy(writes, ({ object }) => slashed(object));
  return ({ origin, holder, grantedAt }) =>
    (byObject.get(origin ?? holder) ?? []).findLast(
      ({ at, act }) => act !== 'Corrected' && Date.parse(at) <= Date.parse(grantedAt),
    );
}

/** Returns `kubenode.dev/MachineSet web` as `MachineSet/web`, and `apps/Deployment shop/web` as `Deployment/shop/web`. */
function slashed(object: string): string {
  return withoutGroup(object.replace(' ', '/'));
}

/** A kind begins with a capital letter, a group does not. */
function withoutGroup(name: string): string {
  return name.replace(/^[a-z][^/]*\//, '');
}

function isAsked(entry: AuditEntry, { node, object, commit, since }: AuditQuestion): boolean {
  const { line } = entry;
  return (
    (since === undefined || Date.parse(line.at) >= since.getTime()) &&
    (node === undefined || isAboutNode(line, node)) &&
    (object === undefined || isAboutObject(line, object)) &&
    (commit === undefined || isOfCommit(entry, commit))
  );
}

function isOfCommit({ line, source }: AuditEntry, start: string): boolean {
  const commit = line.type === 'object' ? line.commit : source?.commit;
  return commit?.startsWith(start) ?? false;
}

function isAboutNode(line: AuditEntry['line'], node: string): boolean {
  if (line.type === 'act' || line.type === 'answer') return line.machine === node;
  return line.type === 'object' && line.object === `kubenode.dev/Machine ${node}`;
}

function isAboutObject(line: AuditEntry['line'], asked: string): boolean {
  if (line.type === 'object') {
    return line.object.replace(' ', '/') === asked || slashed(line.object) === asked;
  }
  if (line.type === 'act') return line.holder === asked || line.origin === asked;
  return line.type === 'answer' && line.holder === asked;
}
