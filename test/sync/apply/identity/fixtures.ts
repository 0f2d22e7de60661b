/** An API server that answers what a ServiceAccount may do, and plans that need it. */
import type { Impersonation } from '../../../../src/kube/auth/credentials.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, ObjectName, Resource } from '../../../../src/kube/objects/object.ts';
import { planTarget, type TargetPlan } from '../../../../src/sync/apply/plan.ts';
import { createFakeCluster } from '../fake-cluster.ts';
import { type ApplyScenario, applyInput } from '../fixtures.ts';

export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name?: string;
}

export interface ReviewServer {
  readonly client: Client;
  /** The questions, as `verb resource namespace/name`. */
  readonly asked: string[];
  /** Who asked. */
  readonly users: (string | undefined)[];
  /** The ServiceAccounts that were read, as `namespace/name`. */
  readonly accounts: string[];
}

export interface ReviewRules {
  /** Undefined: the server does not say. */
  readonly allows?: (attributes: Attributes) => boolean | undefined;
  /** Thrown by each question. */
  readonly error?: Error;
  /** Thrown when the ServiceAccount is read. */
  readonly accountError?: KubeError;
  readonly account?: Partial<KubeObject['metadata']>;
}

export function reviewServer(rules: ReviewRules = {}): ReviewServer {
  const { client } = createFakeCluster().process();
  const asked: string[] = [];
  const users: (string | undefined)[] = [];
  const accounts: string[] = [];
  return {
    asked,
    users,
    accounts,
    client: {
      ...client,
      get: async <T>(resource: Resource, { name, namespace }: ObjectName) => {
        accounts.push(`${namespace}/${name}`);
        if (rules.accountError) throw rules.accountError;
        return { apiVersion: 'v1', kind: resource.kind, metadata: { name, ...rules.account } } as T;
      },
      create: async <T>(
        _: Resource,
        review: KubeObject,
        options?: { readonly impersonate?: Impersonation; readonly signal?: AbortSignal },
      ) => {
        options?.signal?.throwIfAborted();
        const { resourceAttributes } = review['spec'] as { readonly resourceAttributes: Attributes };
        const { verb, resource, namespace, name = '*' } = resourceAttributes;
        asked.push(`${verb} ${resource} ${namespace}/${name}`);
        users.push(options?.impersonate?.user);
        if (rules.error) throw rules.error;
        const allowed = rules.allows ? rules.allows(resourceAttributes) : true;
        return { ...review, status: { allowed } } as T;
      },
      resourceFor: async (apiVersion, kind) => {
        if (kind === 'Unserved') throw new KubeError('NotFound', 'it is not served', { status: 404 });
        if (kind === 'Unknown') throw new KubeError('ServerError', 'its group cannot be read');
        return client.resourceFor(apiVersion, kind);
      },
    },
  };
}

export function planOf(scenario: ApplyScenario): TargetPlan {
  return planTarget(applyInput(scenario));
}
