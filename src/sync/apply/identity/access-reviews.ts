/**
 * Asks an API server what a ServiceAccount may do, as that account: one question for each verb, kind and namespace. Only where that is
 * denied are the names asked for, because RBAC may grant single names.
 */
import type { Impersonation } from '../../../kube/auth/credentials.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { valueAt } from '../../../kube/objects/json.ts';
import type { Resource } from '../../../kube/objects/object.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import type { Clock } from '../../../os/clock.ts';
import type { AccessVerb, NeededAccess } from './needed-access.ts';

/** A permission that the account does not have. */
export interface MissingAccess {
  readonly verb: AccessVerb;
  /** `deployments.apps`, as kubectl takes it. */
  readonly resource: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
}

/**
 * The permissions that an account was found to have. Those that it lacks are asked for again each time: a person may have granted them.
 * One that was taken away meanwhile is refused by the server.
 */
export interface AllowedAccess {
  has(key: string): boolean;
  add(key: string): void;
}

/** In a cluster that changes all the time, the questions about a unit are asked once a minute. */
const ALLOWED_MS = 60_000;

export function createAllowedAccess(clock: Pick<Clock, 'monotonicMs'>): AllowedAccess {
  const until = new Map<string, number>();
  return {
    has: (key) => (until.get(key) ?? 0) > clock.monotonicMs(),
    add(key) {
      const now = clock.monotonicMs();
      for (const [known, end] of until) if (end <= now) until.delete(known);
      until.set(key, now + ALLOWED_MS);
    },
  };
}

export interface AccessQuestions {
  readonly client: Client;
  readonly account: Impersonation;
  readonly allowed: AllowedAccess;
  readonly signal: AbortSignal;
}

/** Returns what is missing, in the order of `needed`. Rejects with Forbidden when sync may not impersonate the account. */
export async function findMissingAccess(
  questions: AccessQuestions,
  needed: readonly NeededAccess[],
): Promise<readonly MissingAccess[]> {
  const found = await runConcurrently(needed, async (access) => {
    const resource = await resourceOf(questions, access);
    // The write of a kind that is not served fails for that reason.
    if (!resource || (await isAllowed(questions, access, resource))) return [];
    const { group, plural } = resource;
    const { verb, namespace } = access;
    return [{ verb, resource: group === '' ? plural : `${plural}.${group}`, namespace }];
  });
  return found.flat();
}

async function resourceOf(
  { client }: AccessQuestions,
  { apiVersion, kind }: NeededAccess,
): Promise<Resource | undefined> {
  try {
    return await client.resourceFor(apiVersion, kind);
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function isAllowed(
  questions: AccessQuestions,
  access: NeededAccess,
  resource: Resource,
): Promise<boolean> {
  if (await ask(questions, access, resource)) return true;
  for (const name of access.names) if (!(await ask(questions, access, resource, name))) return false;
  return true;
}

async function ask(
  { client, account, allowed, signal }: AccessQuestions,
  { verb, namespace }: NeededAccess,
  { group, plural }: Resource,
  name?: string,
): Promise<boolean> {
  const attributes = { verb, group, resource: plural, namespace, ...(name === undefined ? {} : { name }) };
  const key = JSON.stringify([account.user, attributes]);
  if (allowed.has(key)) return true;
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: REVIEWS.kind,
    metadata: { name: '' },
    spec: { resourceAttributes: attributes },
  };
  const answer = await client.create(REVIEWS, review, { signal, impersonate: account });
  const isGranted = valueAt(answer, 'status', 'allowed') === true;
  if (isGranted) allowed.add(key);
  return isGranted;
}

export const REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};
