/** Counts the clients of a control plane that have what the phase of a rotation issues, and names the others. Pure. */
import { isRelay } from '../../drivers/driver.ts';
import type { HostingInput } from '../input.ts';
import type { Remedy } from './hints.ts';
import { type NodeClient, nodeClients } from './machines.ts';

export interface RotationClients {
  readonly total: number;
  readonly moved: number;
  /** Those that have not, as `sync`, `Node worker-1` or `Secret ns/token`, and why where that is known. */
  readonly behind: readonly RotationClient[];
}

interface RotationClient {
  readonly name: string;
  readonly because?: string;
  readonly remedy: Remedy;
}

/** Undefined: the clients of the cluster could not be read. Unknown is neither moved nor absent. */
export function rotationClients(input: HostingInput): RotationClients | undefined {
  const { inside, clients, plane } = input;
  if (!inside || !clients || !plane.rotation) return undefined;
  const { behind: notStarted, tokenKeyId } = plane.rotation;
  const names = plane.members.map(({ member }) => member).filter((member) => !isRelay(member));
  const tokens = clients.tokens.filter(({ keyId }) => keyId !== undefined);
  const sync = syncClient(input);
  const nodes = nodeClients(input);
  const behind = [
    ...names
      .filter((member) => notStarted.includes(member))
      .map((name) => ({ name, remedy: 'Wait' as const })),
    ...(sync === 'behind' ? [{ name: 'sync', remedy: 'Reach' as const }] : []),
    ...tokens
      .filter(({ keyId }) => keyId !== tokenKeyId)
      .map(({ name }) => ({ name: `Secret ${name}`, remedy: 'Fill' as const })),
    ...behindOf(nodes),
  ];
  const total = names.length + (sync ? 1 : 0) + tokens.length + nodes.length;
  return { total, moved: total - behind.length, behind };
}

/** Counts agents and kubelets only: what is trusted matters to them before anything is issued. */
export function rotationNodes(input: HostingInput): RotationClients | undefined {
  const { inside, clients, plane } = input;
  if (!inside || !clients || !plane.rotation) return undefined;
  const nodes = nodeClients(input);
  const behind = behindOf(nodes);
  return { total: nodes.length, moved: nodes.length - behind.length, behind };
}

function behindOf(nodes: readonly NodeClient[]): readonly RotationClient[] {
  return nodes.flatMap(({ name, behind }) => (behind === undefined ? [] : [{ name, ...behind }]));
}

/** Sync reports when it last reached the cluster, and connects again when its Secret changes. Undefined: it never reached it. */
function syncClient({ cluster, secret, secretWrittenAt }: HostingInput): 'moved' | 'behind' | undefined {
  const contact = cluster.status?.sync?.lastContactAt;
  if (contact === undefined) return undefined;
  if (secret !== 'Current' || !secretWrittenAt) return 'behind';
  return Date.parse(contact) > +secretWrittenAt ? 'moved' : 'behind';
}
