/** The audit log of the API server about the calls of one user: an independent record. */
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFIG_MAPS } from '../../src/kube/objects/core-kinds.ts';
import { auditFlags, createLineReader } from '../audit/log-lines.ts';

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
    flags: auditFlags(policy, log),
    calls: async () => {
      for (const line of await nextLines()) calls.push(callOf(line));
      return calls;
    },
    close: () => file.close(),
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
