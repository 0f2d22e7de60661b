/**
 * Attempts to write, and the decision of the server. They are dry runs, which pass authorization and admission like any
 * write and change nothing, so that an attempt can be repeated until the caches of the server are current.
 */
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type ResourceKind, resources } from './resources.ts';

export type Attempt = (client: Client) => Promise<unknown>;

export function create(object: KubeObject): Attempt {
  return (client) => client.create(resources[object.kind as ResourceKind], object, { dryRun: true });
}

/** Server-side apply of these fields. */
export function apply(kind: ResourceKind, name: string, fields: object, subresource?: string): Attempt {
  const resource = resources[kind];
  const { group, version } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const object = { apiVersion, kind, metadata: { name }, ...fields } as KubeObject;
  const options = { fieldManager: 'test', force: true, dryRun: true };
  return (client) =>
    client.apply(resource, object, subresource === undefined ? options : { ...options, subresource });
}

export function patch(
  kind: ResourceKind,
  name: string,
  body: Readonly<Record<string, unknown>>,
  subresource?: string,
): Attempt {
  const options = subresource === undefined ? { dryRun: true } : { dryRun: true, subresource };
  return (client) => client.patch(resources[kind], { name }, { type: 'merge', body }, options);
}

export type AccessDecision = 'allowed' | 'no permission' | `kubenode-${string}`;

/** Allowed, denied by RBAC, or denied by a policy. */
async function decide(attempt: () => Promise<unknown>): Promise<AccessDecision> {
  try {
    await attempt();
    return 'allowed';
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const policy = /ValidatingAdmissionPolicy '(?<name>[^']+)'/.exec(error.message)?.groups?.['name'];
    if (policy !== undefined) return policy as AccessDecision;
    if (error.code === 'Forbidden') return 'no permission';
    // Admission comes before this check, so it allowed the request.
    if (error.code === 'AlreadyExists') return 'allowed';
    throw error;
  }
}

const clock = createSystemClock();
const TIMEOUT_MS = 20_000;

/**
 * The decision once the caches of the server are current. The server reads roles and policy parameters from caches, so an
 * unexpected decision is retried until a timeout.
 */
export async function finalDecision(
  client: Client,
  attempt: Attempt,
  expected: AccessDecision,
): Promise<AccessDecision> {
  const end = clock.monotonicMs() + TIMEOUT_MS;
  for (;;) {
    const decision = await decide(() => attempt(client));
    if (decision === expected || clock.monotonicMs() > end) return decision;
    await clock.sleep(100);
  }
}
