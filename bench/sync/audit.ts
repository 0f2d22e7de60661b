/** The audit log of the API server about the calls of one user: an independent record. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Call {
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly receivedMs: number;
  readonly answeredMs: number;
}

export interface Audit {
  /** Flags of the API server. */
  readonly flags: readonly string[];
  /** All answered calls; watches as soon as they were opened. */
  calls(): Promise<Call[]>;
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

export function isWrite({ verb }: Call): boolean {
  return WRITES.has(verb);
}

export async function auditOf(user: string, folder: string): Promise<Audit> {
  const [policy, log] = [join(folder, 'audit-policy.yaml'), join(folder, 'audit.log')];
  await writeFile(policy, JSON.stringify(policyFor(user)));
  return {
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxsize=1000'],
    calls: async () => {
      const lines = existsSync(log) ? (await readFile(log, 'utf8')).split('\n') : [];
      return lines.filter((line) => line.endsWith('}')).map(callOf);
    },
  };
}

function policyFor(user: string): unknown {
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [{ level: 'Metadata', users: [user] }, { level: 'None' }],
  };
}

interface AuditEvent {
  readonly verb: string;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly objectRef?: { readonly resource?: string; readonly namespace?: string; readonly name?: string };
}

function callOf(line: string): Call {
  const { verb, objectRef = {}, requestReceivedTimestamp, stageTimestamp } = JSON.parse(line) as AuditEvent;
  const { resource = '', namespace = '', name = '' } = objectRef;
  const times = { receivedMs: Date.parse(requestReceivedTimestamp), answeredMs: Date.parse(stageTimestamp) };
  return { verb, resource, namespace, name, ...times };
}
