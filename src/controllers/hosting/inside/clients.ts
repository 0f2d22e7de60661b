/** Reads who in a hosted cluster holds something that its authorities or its signing key made. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineAgent, MachineAuthorities } from '../../../api/generated/types.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { NAMESPACE_AGENTS } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { NODES, SECRETS } from '../../../kube/objects/core-kinds.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';

export interface ClusterClients {
  /** The names of all Nodes: each kubelet has a client certificate. */
  readonly nodes: readonly string[];
  readonly machines: readonly MachineClient[];
  /** The Secrets with a token of a ServiceAccount, which never ends by itself. */
  readonly tokens: readonly TokenSecret[];
}

export interface MachineClient {
  readonly name: string;
  /** Undefined: it never had one. */
  readonly agent?: AgentClient;
  /** Whether its agent renews its Lease, as the controllers of the cluster have judged by their own clock. Undefined: they have not yet. */
  readonly heartbeat?: 'Renewed' | 'Silent' | 'Never';
  /** When its agent renewed its Lease last, by the clock of its host. */
  readonly heardAt?: Date;
}

export interface AgentClient {
  readonly version?: string;
  /** When it started, by the clock of its host. */
  readonly startedAt?: Date;
  readonly authorities?: MachineAuthorities;
}

export interface TokenSecret {
  /** Namespace and name. */
  readonly name: string;
  /** The ID of the key that signed it. Undefined: it has none, or is not filled yet. */
  readonly keyId: string | undefined;
}

const TOKEN_TYPE = 'kubernetes.io/service-account-token';

export async function readClients(client: Client, signal: AbortSignal): Promise<ClusterClients> {
  const [nodes, machines, leases, secrets] = await Promise.all([
    client.list(NODES, { signal }),
    client.list<Machine>(MACHINES, { signal }),
    client.list(LEASES, { namespace: NAMESPACE_AGENTS, signal }),
    client.list(SECRETS, { fieldSelector: `type=${TOKEN_TYPE}`, signal }),
  ]);
  const byMachine = new Map(leases.items.map((lease) => [lease.metadata.name, lease]));
  return {
    nodes: nodes.items.map(({ metadata }) => metadata.name).toSorted(),
    machines: machines.items
      .map((each) => toMachine(each, byMachine.get(each.metadata.name)))
      .toSorted(byName),
    tokens: secrets.items.map(toToken).toSorted(byName),
  };
}

interface Named {
  readonly name: string;
}

function byName(a: Named, b: Named): number {
  return byCode(a.name, b.name);
}

/** A Lease of another Machine of that name is that of a machine that was deleted. */
export function toMachine({ metadata, status }: Machine, lease: KubeObject | undefined): MachineClient {
  const { name, uid = '' } = metadata;
  return {
    name,
    ...optional('agent', status?.agent && toAgent(status.agent)),
    ...optional('heartbeat', heartbeatOf(status?.conditions)),
    ...optional('heardAt', lease && renewedAt(lease, uid)),
  };
}

function toAgent({ version, startedAt, authorities }: MachineAgent): AgentClient {
  const started = parseTime(startedAt);
  return {
    ...optional('version', version),
    ...optional('startedAt', started),
    ...optional('authorities', authorities),
  };
}

function heartbeatOf(
  conditions: NonNullable<Machine['status']>['conditions'] | undefined,
): MachineClient['heartbeat'] {
  const found = conditionOf(conditions, 'AgentReady');
  if (!found) return undefined;
  if (found.status === 'True') return 'Renewed';
  return found.status === 'False' ? 'Never' : 'Silent';
}

function renewedAt(lease: KubeObject, machineUid: string): Date | undefined {
  const owners = lease.metadata.ownerReferences ?? [];
  const renewed = Date.parse(textAt(lease, 'spec', 'renewTime') ?? '');
  if (Number.isNaN(renewed) || owners.some(({ uid }) => uid !== machineUid)) return undefined;
  return new Date(renewed);
}

/** Only the header of the token is read, which is not secret. */
function toToken(secret: KubeObject): TokenSecret {
  const { namespace = '', name } = secret.metadata;
  const token = Buffer.from(textAt(secret, 'data', 'token') ?? '', 'base64').toString('utf8');
  return { name: `${namespace}/${name}`, keyId: keyIdOf(token) };
}

export function keyIdOf(token: string): string | undefined {
  const [header = ''] = token.split('.');
  try {
    return textAt(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')), 'kid');
  } catch {
    return undefined;
  }
}
