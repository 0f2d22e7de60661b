/** Connects a part of kubenode with its own identity: no part uses the permissions of an administrator. */

import { serviceAccountUser } from '../api/names.ts';
import type { Client } from '../kube/client/client.ts';
import { type ConnectOptions, connect } from '../kube/client/connect.ts';
import { textAt } from '../kube/objects/json.ts';
import type { Resource } from '../kube/objects/object.ts';
import { printableLine } from '../kube/objects/printable.ts';
import { createPrincipal } from '../local/pki/principal.ts';
import { type ConnectionFlags, findKubeconfig } from './connection.ts';
import type { Io } from './io.ts';

const REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
};

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

/** The user as the API server knows it. */
export async function readUserName(client: Client, signal: AbortSignal): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: REVIEWS.kind, metadata: { name: '' } };
  return (
    textAt(await client.create(REVIEWS, review, { signal }), 'status', 'userInfo', 'username') ?? 'unknown'
  );
}
