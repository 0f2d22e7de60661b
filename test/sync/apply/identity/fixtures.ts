/** An API server that answers what a ServiceAccount may do, and plans that need it. */
import type { Impersonation } from '../../../../src/kube/auth/credentials.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
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
}

export interface ReviewRules {
  readonly allows?: (attributes: Attributes) => boolean;
  /** Thrown by each question. */
  readonly error?: KubeError;
  /** Thrown when the ServiceAccount is read. */
  readonly accountError?: KubeError;
  readonly account?: Partial<KubeObject['metadata']>;
}

export function reviewServer(rules: ReviewRules = {}): ReviewServer {
  const { client } = createFakeCluster().process();
  const asked: string[] = [];
  const users: (string | undefined)[] = [];
  return {
    asked,
    users,
    client: {
      ...client,
      get: async <T>(resource: Resource, { name }: { readonly name: string }) => {
        if (rules.accountError) throw rules.accountError;
        return { apiVersion: 'v1', kind: resource.kind, metadata: { name, ...rules.account } } as T;
      },
      create: async <T>(
        _: Resource,
        review: KubeObject,
        options?: { readonly impersonate?: Impersonation },
      ) => {
        const { resourceAttributes } = review['spec'] as { readonly resourceAttributes: Attributes };
        const { verb, resource, namespace, name = '*' } = resourceAttributes;
        asked.push(`${verb} ${resource} ${namespace}/${name}`);
        users.push(options?.impersonate?.user);
        if (rules.error) throw rules.error;
        const allowed = rules.allows?.(resourceAttributes) ?? true;
        return { ...review, status: { allowed } } as T;
      },
      resourceFor: async (apiVersion, kind) => {
        if (kind === 'Unserved') throw new KubeError('NotFound', 'it is not served', { status: 404 });
        return client.resourceFor(apiVersion, kind);
      },
    },
  };
}

export function planOf(scenario: ApplyScenario): TargetPlan {
  return planTarget(applyInput(scenario));
}
