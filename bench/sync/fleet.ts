/** The repository that the benchmark pushes: a fleet program in cdk8s with many ConfigMaps for one cluster. */

export const CLUSTER = 'bench';
export const UNIT_NAMESPACE = 'default';

export interface FleetContent {
  /** Number of ConfigMaps. */
  readonly objects: number;
  /** In each of them. */
  readonly value: string;
  /** Other values, by index. */
  readonly changes: ReadonlyMap<number, string>;
}

/** How sync learns of a push. */
export interface FleetSource {
  readonly repository: string;
  readonly pollSeconds: number;
  /** The Secret of the webhook. */
  readonly webhookSecretRef?: { readonly name: string };
}

export function fleetFiles(source: FleetSource, content: FleetContent): Record<string, string> {
  return { 'fleet/main.ts': program(source, content), 'cdk8s.yaml': CDK8S };
}

const CDK8S = 'language: typescript\napp: node fleet/main.ts\n';

function program(source: FleetSource, { objects, value, changes }: FleetContent): string {
  return `import { Fleet } from 'kubenode/constructs';
import { ApiObject } from 'cdk8s';
const fleet = new Fleet();
fleet.pipeline('fleet', {
  source: ${JSON.stringify({ ...source, ref: 'refs/heads/main' })},
  stages: [{ name: 'all', clusterSelector: { all: true }, soakSeconds: 0 }],
});
const changes: Record<number, string> = ${JSON.stringify(Object.fromEntries(changes))};
const cluster = fleet.cluster('${CLUSTER}', { environment: 'test', connection: { credentialsRef: { name: '${CLUSTER}-kubeconfig' } } });
const unit = cluster.unit('web');
for (let index = 0; index < ${objects}; index += 1) {
  new ApiObject(unit, 'bench-' + index, {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bench-' + index, namespace: '${UNIT_NAMESPACE}', labels: { app: 'bench' } },
    data: { value: changes[index] ?? '${value}', text: '${'x'.repeat(500)}' },
  } as never);
}
fleet.synth();
`;
}
