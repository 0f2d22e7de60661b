/** Machines of hosts that are imported over SSH, and the Secret with the key for all of them. */
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { HostKey, Machine } from '../../src/api/generated/types.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../src/api/names.ts';
import { API_VERSION } from '../../src/api/version.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { conditionOf } from '../../src/kube/objects/conditions.ts';
import { SECRETS } from '../../src/kube/objects/core-kinds.ts';

export interface HostToImport {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly hostKeys: readonly HostKey[];
  readonly skipChecks?: readonly string[];
}

const SECRET = 'fleet-ssh';

export async function createSshSecret(client: Client, privateKey: string): Promise<void> {
  const annotations = { [ANNOTATION_SECRET_USE]: 'ssh' };
  await client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET, namespace: NAMESPACE, annotations },
    type: 'kubernetes.io/ssh-auth',
    stringData: { 'ssh-privatekey': privateKey },
  });
}

export async function createImportedMachine(client: Client, host: HostToImport): Promise<void> {
  const { name, address, port, hostKeys, skipChecks = [] } = host;
  const keys = hostKeys.map(({ algorithm, fingerprint }) => ({ algorithm, fingerprint }));
  await client.create(MACHINES, {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { name },
    spec: {
      infra: { provider: 'ssh' },
      import: { address, port, credentialsRef: { name: SECRET }, hostKeys: keys, skipChecks },
    },
  });
}

/** The status and the reason of one condition, as `True AsWanted`. */
export function conditionText({ status }: Machine, type: string): string | undefined {
  const found = conditionOf(status?.conditions, type);
  return found && `${found.status} ${found.reason}`;
}
