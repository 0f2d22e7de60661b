import type { Client } from '../../../kube/client/client.ts';
import { type ConnectionFlags, connectFrom } from '../../connection.ts';
import type { Io } from '../../io.ts';

/** Runs the work of a command with a client of the hub, which it closes. */
export async function withHub(
  io: Io,
  flags: ConnectionFlags,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await connectFrom(io, flags);
  try {
    await work(client);
  } finally {
    await client.close();
  }
}
