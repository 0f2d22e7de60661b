/** Which requests the controllers make, from the audit log of the API server. */
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLUSTER_API_GROUP } from '../../src/controllers/following/clusterapi/contract.ts';
import { auditFlags, createLineReader } from '../audit/log-lines.ts';

export interface RequestLog {
  /** Flags of the API server. */
  readonly flags: readonly string[];
  /** Returns the requests since the last call. */
  next(): Promise<readonly LoggedRequest[]>;
  close(): Promise<void>;
}

export interface LoggedRequest {
  readonly verb: string;
  /** The kind with its group and subresource: `machines.cluster.x-k8s.io/status`. */
  readonly object: string;
}

/** Logs the requests of the user that authenticates, also where it acts as another. */
export async function openRequestLog(user: string, folder: string): Promise<RequestLog> {
  const [policyFile, logFile] = [join(folder, 'audit-policy.yaml'), join(folder, 'audit.log')];
  const rules = [{ level: 'Metadata', users: [user] }, { level: 'None' }];
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules,
  };
  await writeFile(policyFile, JSON.stringify(policy));
  // Created here, so that it can be read before the first request.
  const file = await open(logFile, 'a+');
  const nextLines = createLineReader(file);
  return {
    flags: auditFlags(policyFile, logFile),
    next: async () =>
      (await nextLines())
        .map((line) => JSON.parse(line) as AuditEvent)
        .filter(isRequest)
        .map(requestOf),
    close: () => file.close(),
  };
}

interface AuditEvent {
  readonly verb: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
  };
}

/** A watch counts when it begins, and not again when it ends. */
function isRequest({ verb, stage }: AuditEvent): boolean {
  return verb !== 'watch' || stage === 'ResponseStarted';
}

function requestOf({ verb, requestURI, objectRef }: AuditEvent): LoggedRequest {
  if (!objectRef) return { verb, object: requestURI };
  const { apiGroup, resource = '', subresource } = objectRef;
  const kind = apiGroup ? `${resource}.${apiGroup}` : resource;
  return { verb, object: subresource === undefined ? kind : `${kind}/${subresource}` };
}

export interface RequestCounts {
  /** Those by which one process leads. */
  readonly leases: number;
  readonly watches: number;
  /** Those for machines, Nodes and what Cluster API has: polling would show here. */
  readonly machines: number;
  /** Of them, writes that show Cluster API what kubenode does. */
  readonly conditions: number;
  /** The ledger of the Defender, and kinds that may appear: as many whatever the number of machines is. */
  readonly others: number;
}

const OF_MACHINES = /^(?:machines|nodes|clusters|kubeadmconfigs)\b/;

export function countRequests(requests: readonly LoggedRequest[]): RequestCounts {
  const isLease = ({ object }: LoggedRequest): boolean => object.startsWith('leases.');
  const leases = requests.filter(isLease);
  const watches = requests.filter((each) => each.verb === 'watch' && !isLease(each));
  const rest = requests.filter((each) => each.verb !== 'watch' && !isLease(each));
  const machines = rest.filter(({ object }) => OF_MACHINES.test(object));
  return {
    leases: leases.length,
    watches: watches.length,
    machines: machines.length,
    conditions: machines.filter(({ object }) => object === `machines.${CLUSTER_API_GROUP}/status`).length,
    others: rest.length - machines.length,
  };
}

/** Most first, for people. */
export function requestTable(requests: readonly LoggedRequest[]): string {
  const groups = Map.groupBy(requests, ({ verb, object }) => `${verb} ${object}`);
  const rows = [...groups].map(([text, { length }]) => [length, text] as const).toSorted(([a], [b]) => b - a);
  return rows.map(([count, text]) => `    ${String(count).padStart(6)} ${text}\n`).join('');
}
