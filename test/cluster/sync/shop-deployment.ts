/** A Deployment whose controller is the test. */
import { expect } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';

export const SHOP_DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: default}
spec:
  replicas: 0
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: shop, image: "example.com/shop:1"}]}
`;

/** As its controller does, as soon as the Deployment exists. */
export async function reportShop(client: Client, status: string, reason: string): Promise<void> {
  const deployments = await client.resourceFor('apps/v1', 'Deployment');
  const name = { name: 'shop', namespace: 'default' };
  await expect.poll(() => client.get(deployments, name).catch(String)).toHaveProperty('metadata');
  const conditions = [
    { type: 'Progressing', status, reason, message: 'as the test reports' },
    { type: 'Available', status: 'True', reason: 'Enough', message: 'as the test reports' },
  ];
  const body = { status: { observedGeneration: 1, conditions } };
  await client.patch(deployments, name, { type: 'merge', body }, { subresource: 'status' });
}
