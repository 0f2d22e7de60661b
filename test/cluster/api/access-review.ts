/** Whether a principal has a permission, asked by the principal itself. */
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { Permission } from './permission-table.ts';

const REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

export async function isAllowed(client: Client, permission: Permission): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: REVIEWS.kind,
    metadata: {},
    spec: { resourceAttributes: permission },
  } as unknown as KubeObject;
  const { status } = await client.create<{ status: { allowed: boolean } }>(REVIEWS, review);
  return status.allowed;
}
