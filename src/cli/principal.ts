/** Connects a part of kubenode with its own identity: no part uses the permissions of an administrator. */
import { serviceAccountUser } from '../api/names.ts';
import type { Client } from '../kube/client/client.ts';
import { type ConnectOptions, connect } from '../kube/client/connect.ts';
import { listAt, textAt } from '../kube/objects/json.ts';
import type { KubeObject, Resource } from '../kube/objects/object.ts';
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

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** The user as the API server knows it. */
export async function readUser(client: Client, signal: AbortSignal): Promise<User> {
  const answer = await reviewSelf(client, signal);
  const groups = listAt(answer, 'status', 'userInfo', 'groups').filter((group) => typeof group === 'string');
  return { name: textAt(answer, 'status', 'userInfo', 'username') ?? 'unknown', groups };
}

/** The clock of the API server, to the second. */
export async function readServerTime(client: Client, signal: AbortSignal): Promise<Date | undefined> {
  const { creationTimestamp } = (await reviewSelf(client, signal)).metadata;
  return creationTimestamp === undefined ? undefined : new Date(creationTimestamp);
}

async function reviewSelf(client: Client, signal: AbortSignal): Promise<KubeObject> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: REVIEWS.kind, metadata: { name: '' } };
  return client.create(REVIEWS, review, { signal });
}

export async function readUserName(client: Client, signal: AbortSignal): Promise<string> {
  return (await readUser(client, signal)).name;
}
