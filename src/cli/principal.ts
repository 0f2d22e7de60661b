/** Connects a part of kubenode with its own identity: no part uses the permissions of an administrator. */
import { serviceAccountUser } from '../api/names.ts';
import { readUserName } from '../kube/auth/self-review.ts';
import { type ConnectOptions, connect } from '../kube/client/connect.ts';
import { printableLine } from '../kube/objects/printable.ts';
import { createPrincipal } from '../local/pki/principal.ts';
import { type ConnectionFlags, findKubeconfig } from './connection.ts';
import type { Io } from './io.ts';

/**
 * Options for `connect` as that principal: with its own credentials unchanged, with others by impersonation, for which
 * an administrator has the permission.
 */
export async function connectOptionsFor(
  io: Io,
  flags: ConnectionFlags,
  principal: string,
): Promise<ConnectOptions> {
  const kubeconfig = findKubeconfig(io, flags);
  const options: ConnectOptions = {
    clock: io.clock,
    ...(kubeconfig ? { kubeconfig } : {}),
    ...(flags.context ? { context: flags.context } : {}),
  };
  const client = await connect(options);
  try {
    const user = await readUserName(client, io.signal);
    if (user === serviceAccountUser(principal)) return options;
    io.err(
      `${client.server}: signed in as ${printableLine(user)}, acting as ${principal} by impersonation\n`,
    );
    return { ...options, impersonate: createPrincipal(principal) };
  } finally {
    await client.close();
  }
}
