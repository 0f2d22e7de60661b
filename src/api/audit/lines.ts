/**
 * Defines the lines of the audit record: JSON, one line for each write of an object, act on a machine and decision of a person. The
 * fields are stable: lines are kept for longer than the version that wrote them. No field holds content of an object. Pure.
 */
import { parseRecord, textAt } from '../../kube/objects/json.ts';
import { truncate } from '../../kube/objects/truncate.ts';

/** Who is behind a commit. It precedes the first line of each process about an object of that commit. */
export interface AuditCommit {
  readonly type: 'commit';
  readonly at: string;
  readonly commit: string;
  readonly pipeline: string;
  /** The name of the Cluster in the hub, or the hub itself. */
  readonly cluster: string;
  /** The author as the commit states it. Anybody can write any name there: only `signer` is proven. */
  readonly author?: string;
  readonly subject?: string;
  /** The name of the key that signed the commit, as the file of signers in git lists it. Absent: no signature was verified. */
  readonly signer?: string;
  /** The digest of the plan, which approvals name. */
  readonly plan?: string;
  /** The approvals of this plan that git declared when the commit was applied. */
  readonly approvals?: readonly AuditApproval[];
  /** Who rolled the cluster back to this commit. */
  readonly rollback?: AuditRollback;
}

export interface AuditRollback {
  readonly by: string;
  readonly reason: string;
  readonly since: string;
}

export interface AuditApproval {
  readonly stage: string;
  readonly reason: string;
  /** The digest of the plan that was approved. */
  readonly planDigest?: string;
  /** The commit that brought the approval. */
  readonly commit?: string;
  /** The name of the key that signed that commit. Absent: no signature was verified. */
  readonly by?: string;
}

/** A write of sync. */
export interface AuditObject {
  readonly type: 'object';
  readonly at: string;
  /** The object as the inventory names it: `kubenode.dev/MachineComponentSet base`, `apps/Deployment web/frontend`. */
  readonly object: string;
  readonly unit: string;
  readonly commit: string;
  readonly act: 'Created' | 'Updated' | 'Corrected' | 'Deleted' | 'Released';
  readonly outcome: 'Succeeded' | 'Failed';
  readonly because: string;
  /** Digests of the content in git, before and after. Absent for Secrets, whose content could be guessed by them. */
  readonly before?: string;
  readonly after?: string;
  /** The component versions that a MachineComponentSet declares. */
  readonly components?: readonly string[];
}

/** An act on a machine with the grant of the Defender, written when the grant ended. */
export interface AuditAct {
  readonly type: 'act';
  readonly at: string;
  readonly machine: string;
  readonly action: string;
  readonly risk: string;
  readonly grant: string;
  readonly grantedAt: string;
  /** `<kind>/<name>` of the object that asked for the grant. */
  readonly holder: string;
  /** The rule or set that it acted for. */
  readonly origin?: string;
  readonly revision?: string;
  /**
   * Unused: the permission ended before the act began. Unknown: the ledger was lost before the outcome was known. InFlight: read from the
   * ledger, and never in the record.
   */
  readonly outcome: 'Succeeded' | 'Failed' | 'Ambiguous' | 'Unused' | 'Unknown' | 'InFlight';
}

/** An approval or a refusal of an act by a person, through the Defender. */
export interface AuditAnswer {
  readonly type: 'answer';
  readonly at: string;
  readonly machine: string;
  readonly action: string;
  readonly holder: string;
  readonly decision: string;
  readonly by: string;
  readonly reason?: string;
}

/** A breaker that a person closed. */
export interface AuditClosure {
  readonly type: 'closure';
  readonly at: string;
  readonly breaker: string;
  readonly by: string;
  readonly reason: string;
}

export type AuditLine = AuditCommit | AuditObject | AuditAct | AuditAnswer | AuditClosure;

/** The longest text of a field. Names of objects have 253 characters, and with a namespace and a group 600. */
const MAX_TEXT = 600;

/** Returns the line with its line break. Texts that are longer than MAX_TEXT are truncated, so that a line is bounded. */
export function serializeLine(line: AuditLine): string {
  return `${JSON.stringify(line, boundText)}\n`;
}

function boundText(_: string, value: unknown): unknown {
  return typeof value === 'string' ? truncate(value, MAX_TEXT) : value;
}

export interface ParsedLines {
  readonly lines: readonly AuditLine[];
  /** How many lines this version cannot read. */
  readonly unreadable: number;
}

export function parseLines(text: string): ParsedLines {
  const found = text.split('\n').filter((line) => line !== '');
  const lines = found.flatMap((line) => parseLine(line) ?? []);
  return { lines, unreadable: found.length - lines.length };
}

function parseLine(text: string): AuditLine | undefined {
  const line: unknown = parseRecord(text);
  return isLine(line) ? line : undefined;
}

/** The texts that each line of a type has. */
const TEXTS: Readonly<Record<AuditLine['type'], readonly string[]>> = {
  commit: ['commit', 'pipeline', 'cluster'],
  object: ['object', 'unit', 'commit', 'act', 'outcome', 'because'],
  act: ['machine', 'action', 'risk', 'grant', 'grantedAt', 'holder', 'outcome'],
  answer: ['machine', 'action', 'holder', 'decision', 'by'],
  closure: ['breaker', 'by', 'reason'],
};

function isLine(value: unknown): value is AuditLine {
  const required = Object.entries(TEXTS).find(([type]) => type === textAt(value, 'type'))?.[1];
  const hasTime = !Number.isNaN(Date.parse(textAt(value, 'at') ?? ''));
  return required !== undefined && hasTime && required.every((field) => textAt(value, field) !== undefined);
}
