/** Which writes a rollout makes: by writer, object and subresource, from the audit log of the API server. Leases are left out. */
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { auditFlags, createLineReader } from '../audit/log-lines.ts';
import { percentile } from '../bench.ts';

export interface WriteLog {
  /** Flags of the API server. */
  readonly flags: readonly string[];
  /** Returns the writes that were answered since the last call. */
  next(): Promise<readonly LoggedWrite[]>;
  close(): Promise<void>;
}

export interface LoggedWrite {
  /** The field manager, where the write names one; otherwise the user. */
  readonly writer: string;
  /** The kind with its subresource: `machines/status`. */
  readonly object: string;
  readonly verb: string;
  readonly code: number;
  /** From the request to the answer. */
  readonly ms: number;
}

export interface WriteCount extends Pick<LoggedWrite, 'writer' | 'object' | 'verb'> {
  /** For each machine. */
  readonly writes: number;
  /** Of them, those that were refused: the object had changed, or the grant was not known yet. */
  readonly refused: number;
  readonly p50Ms: number;
  readonly mostMs: number;
}

export async function openWriteLog(folder: string): Promise<WriteLog> {
  const [policyFile, logFile] = [join(folder, 'audit-policy.yaml'), join(folder, 'audit.log')];
  await writeFile(policyFile, JSON.stringify(POLICY));
  // Created here, so that it can be read before the first write.
  const file = await open(logFile, 'a+');
  const nextLines = createLineReader(file);
  return {
    flags: auditFlags(policyFile, logFile),
    next: async () => (await nextLines()).map((line) => writeOf(JSON.parse(line) as AuditEvent)),
    close: () => file.close(),
  };
}

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', resources: [{ group: 'coordination.k8s.io' }] },
    { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
    { level: 'None' },
  ],
};

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: AuditUser;
  readonly impersonatedUser?: AuditUser;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

interface AuditUser {
  readonly username: string;
}

function writeOf(event: AuditEvent): LoggedWrite {
  const { verb, requestURI, user, impersonatedUser = user, objectRef = {}, responseStatus } = event;
  const manager = new URL(requestURI, 'https://server').searchParams.get('fieldManager');
  return {
    writer: manager ?? impersonatedUser.username.replace(/^.*:/, ''),
    object: [objectRef.resource, objectRef.subresource].filter((part) => part !== undefined).join('/'),
    verb,
    code: responseStatus?.code ?? 0,
    ms: Date.parse(event.stageTimestamp) - Date.parse(event.requestReceivedTimestamp),
  };
}

/** Counts the writes for each machine, most first. */
export function countWrites(writes: readonly LoggedWrite[], machines: number): readonly WriteCount[] {
  const groups = Map.groupBy(writes, ({ writer, object, verb }) => `${writer} ${object} ${verb}`);
  return [...groups.values()]
    .flatMap((group): readonly WriteCount[] => {
      const [first] = group;
      if (!first) return [];
      const refused = group.filter(({ code }) => code >= 400).length;
      const { writer, object, verb } = first;
      const times = group.map(({ ms }) => ms);
      const counts = { writes: group.length / machines, refused: refused / machines };
      return [
        { writer, object, verb, ...counts, p50Ms: percentile(times, 0.5), mostMs: percentile(times, 1) },
      ];
    })
    .toSorted((a, b) => b.writes - a.writes);
}

export function writeTable(counts: readonly WriteCount[]): string {
  const rows = counts.map(({ writer, object, verb, writes, refused, p50Ms, mostMs }) => [
    writes.toFixed(2),
    refused.toFixed(2),
    String(p50Ms),
    String(mostMs),
    writer,
    verb,
    object,
  ]);
  const all = [['writes', 'refused', 'p50 ms', 'most ms', 'writer', 'verb', 'object'], ...rows];
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `    ${line.trimEnd()}\n`)
    .join('');
}
