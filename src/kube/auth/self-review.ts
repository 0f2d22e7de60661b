/** Reads who a client is, as its API server authenticates it. */
import type { Client } from '../client/client.ts';
import { listAt, textAt } from '../objects/json.ts';
import type { KubeObject, Resource } from '../objects/object.ts';

export const SELF_SUBJECT_REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
};

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** The user as the API server knows it. */
export async function readUser(client: Pick<Client, 'create'>, signal: AbortSignal): Promise<User> {
  const answer = await reviewSelf(client, signal);
  const groups = listAt(answer, 'status', 'userInfo', 'groups').filter((group) => typeof group === 'string');
  return { name: textAt(answer, 'status', 'userInfo', 'username') ?? 'unknown', groups };
}

/** The clock of the API server, to the second. */
export async function readServerTime(
  client: Pick<Client, 'create'>,
  signal: AbortSignal,
): Promise<Date | undefined> {
  const { creationTimestamp } = (await reviewSelf(client, signal)).metadata;
  return creationTimestamp === undefined ? undefined : new Date(creationTimestamp);
}

async function reviewSelf(client: Pick<Client, 'create'>, signal: AbortSignal): Promise<KubeObject> {
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: SELF_SUBJECT_REVIEWS.kind,
    metadata: { name: '' },
  };
  return client.create(SELF_SUBJECT_REVIEWS, review, { signal });
}

export async function readUserName(client: Pick<Client, 'create'>, signal: AbortSignal): Promise<string> {
  return (await readUser(client, signal)).name;
}
