/** Calls the API server of a hosted cluster, and closes the connection after it. */
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import type { Clock } from '../../../os/clock.ts';

export async function withClient<T>(
  kubeconfigText: string,
  clock: Clock,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connect({ kubeconfigText, clock });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
