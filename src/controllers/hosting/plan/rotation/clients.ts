/** Counts the clients of a control plane that have what the new authorities issue, and names the others. Pure. */
import { isBalancer } from '../../drivers/driver.ts';
import type { HostingInput } from '../input.ts';

export interface RotationClients {
  readonly total: number;
  readonly moved: number;
  /** Those that have not, as `sync`, `Node worker-1` or `Secret ns/token`. */
  readonly behind: readonly string[];
}

/** Undefined: the clients of the cluster could not be read. Unknown is neither moved nor absent. */
export function rotationClients(input: HostingInput): RotationClients | undefined {
  const { inside, clients, plane } = input;
  if (!inside || !clients || !plane.rotation) return undefined;
  const { behind: notStarted, tokenKeyId } = plane.rotation;
  const names = plane.members.map(({ member }) => member).filter((member) => !isBalancer(member));
  const tokens = clients.tokens.filter(({ keyId }) => keyId !== undefined);
  const sync = syncClient(input);
  const behind = [
    ...names.filter((member) => notStarted.includes(member)),
    ...(sync === 'behind' ? ['sync'] : []),
    ...tokens.filter(({ keyId }) => keyId !== tokenKeyId).map(({ name }) => `Secret ${name}`),
    ...holders(input),
  ];
  const total = names.length + (sync ? 1 : 0) + tokens.length + holders(input).length;
  return { total, moved: total - behind.length, behind };
}

/**
 * Lists the Machines and Nodes. Their agents and kubelets trust the authority that they joined with, and do not take another one yet, so none
 * of them ever counts as moved.
 */
export function holders({ inside, clients }: Pick<HostingInput, 'inside' | 'clients'>): readonly string[] {
  const machines = (inside?.machines ?? []).map((name) => `Machine ${name}`);
  return [...machines, ...(clients?.nodes ?? []).map((name) => `Node ${name}`)];
}

/** Sync reports when it last reached the cluster, and connects again when its Secret changes. Undefined: it never reached it. */
function syncClient({ cluster, secret, secretWrittenAt }: HostingInput): 'moved' | 'behind' | undefined {
  const contact = cluster.status?.sync?.lastContactAt;
  if (contact === undefined) return undefined;
  if (secret !== 'Current' || !secretWrittenAt) return 'behind';
  return Date.parse(contact) > +secretWrittenAt ? 'moved' : 'behind';
}
