/** The audit log of the API server about the calls of one user: an independent record. */
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFIG_MAPS } from '../../src/kube/objects/core-kinds.ts';

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
  /** All calls until now, in the order of their answers; watches as soon as they were opened. */
  calls(): Promise<readonly Call[]>;
  close(): Promise<void>;
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const CHUNK_BYTES = 2 ** 20;

export function isWrite({ verb }: Call): boolean {
  return WRITES.has(verb);
}

/** A write of an object of the fleet, and not of the inventory. */
export function isObjectWrite(call: Call, namespace: string): boolean {
  return isWrite(call) && call.resource === CONFIG_MAPS.plural && call.namespace === namespace;
}

export async function auditOf(user: string, folder: string): Promise<Audit> {
  const [policy, log] = [join(folder, 'audit-policy.yaml'), join(folder, 'audit.log')];
  await writeFile(policy, JSON.stringify(policyFor(user)));
  // Created here, so that it can be read before the first call.
  const file = await open(log, 'a+');
  const nextLines = createLineReader(file);
  const calls: Call[] = [];
  return {
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxsize=1000'],
    calls: async () => {
      for (const line of await nextLines()) calls.push(callOf(line));
      return calls;
    },
    close: () => file.close(),
  };
}

/**
 * Returns the complete lines that were added since the last time: to parse the whole log again for each question would take
 * the time of the processes that are measured.
 */
function createLineReader(file: FileHandle): () => Promise<readonly string[]> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let offset = 0;
  let rest = Buffer.alloc(0);
  return async () => {
    const lines: string[] = [];
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset);
      if (bytesRead === 0) return lines;
      offset += bytesRead;
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf('\n') + 1;
      rest = bytes.subarray(end);
      lines.push(...bytes.toString('utf8', 0, end).split('\n').slice(0, -1));
    }
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
