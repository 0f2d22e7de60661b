/** An application of plain Kubernetes objects, with a different number of replicas in each cluster. */
import { ApiObject } from 'cdk8s';
import type { FleetCluster } from 'kubenode/constructs';
import { versions } from './versions.ts';

const NAMESPACE = 'shop';
const LABELS = { app: 'shop' };

export function declareShop(cluster: FleetCluster, replicas: number): void {
  const chart = cluster.unit('shop');
  new ApiObject(chart, 'namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  new ApiObject(chart, 'settings', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: NAMESPACE },
    data: { version: versions.shop, cluster: cluster.name, environment: cluster.environment },
  });
  new ApiObject(chart, 'web', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          containers: [
            {
              name: 'web',
              image: `registry.example.com/shop:${versions.shop}`,
              envFrom: [{ configMapRef: { name: 'settings' } }],
            },
          ],
        },
      },
    },
  });
}
