/** A client for one piece of work, with the kubeconfig of that moment. */
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

export async function withClient<T>(
  kubeconfigText: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connect({ kubeconfigText, clock: createSystemClock() });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
