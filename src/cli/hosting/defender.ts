/** Opens the Defender of the hub for hosting: it decides about control planes in this process, and writes the ledger as kubenode-defender. */
import type { Cluster } from '../../api/generated/types.ts';
import { NAMESPACE, PRINCIPAL_DEFENDER } from '../../api/names.ts';
import { createDefender, type Defender, type DefenderOptions } from '../../defender/defender.ts';
import type { View } from '../../kube/cache/view.ts';
import { type ConnectOptions, connect } from '../../kube/client/connect.ts';
import { impersonateServiceAccount } from '../../kube/controller/principals.ts';

export interface HubDefenderOptions extends Omit<DefenderOptions, 'client' | 'leads'> {
  readonly connection: ConnectOptions;
  readonly clusters: View<Cluster>;
}

export interface HubDefender extends Pick<Defender, 'views' | 'ledger'> {
  close(): Promise<void>;
}

/** Another process of the hub sweeps the ledger. This one only asks, renews and settles, by compare-and-swap. */
export async function openHubDefender({ connection, ...options }: HubDefenderOptions): Promise<HubDefender> {
  const impersonate = impersonateServiceAccount({ namespace: NAMESPACE, name: PRINCIPAL_DEFENDER });
  const client = await connect({ ...connection, impersonate });
  const defender = createDefender({ ...options, client, leads: () => false });
  return {
    views: defender.views,
    ledger: defender.ledger,
    close: async () => {
      defender.close();
      await client.close();
    },
  };
}
