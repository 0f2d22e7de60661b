/** Publishes the authorities of a control plane inside its cluster, where agents read them. */
import type { SignedAuthorities } from '../../../api/authorities/document.ts';
import { CONFIG_AUTHORITIES, LABEL_MANAGED_BY, MANAGED_BY, MANAGER_HOSTING } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';

export async function publishAuthorities(
  client: Pick<Client, 'apply'>,
  { document, signatures }: SignedAuthorities,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { ...CONFIG_AUTHORITIES, labels: { [LABEL_MANAGED_BY]: MANAGED_BY } };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { document, signatures } };
  await client.apply(CONFIG_MAPS, object, { fieldManager: MANAGER_HOSTING, force: true, signal });
}
