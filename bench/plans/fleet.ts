/** The repository that the benchmark pushes: a fleet program in cdk8s with as many clusters, each with the same ConfigMaps. */

export interface PlansFleet {
  readonly clusters: number;
  /** In each cluster. */
  readonly objects: number;
  readonly source: object;
}

export function clusterName(index: number): string {
  return `bench-${index}`;
}

/** `value` is in each object. */
export function fleetFiles(fleet: PlansFleet, value: string): Record<string, string> {
  return { 'fleet/main.ts': program(fleet, value), 'cdk8s.yaml': CDK8S };
}

const CDK8S = 'language: typescript\napp: node fleet/main.ts\n';

function program({ clusters, objects, source }: PlansFleet, value: string): string {
  return `import { Fleet } from 'kubenode/constructs';
import { ApiObject } from 'cdk8s';
const fleet = new Fleet();
fleet.pipeline('fleet', {
  source: ${JSON.stringify(source)},
  stages: [{ name: 'all', clusterSelector: { all: true }, soakSeconds: 0, maxConcurrentClusters: '100%' }],
});
for (let index = 0; index < ${clusters}; index += 1) {
  const name = 'bench-' + index;
  const cluster = fleet.cluster(name, { environment: 'test', connection: { credentialsRef: { name: name + '-kubeconfig' } } });
  const unit = cluster.unit('web');
  for (let object = 0; object < ${objects}; object += 1) {
    new ApiObject(unit, 'bench-' + object, {
      apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bench-' + object, namespace: 'default', labels: { app: 'bench' } },
      data: { value: '${value}', text: '${'x'.repeat(500)}' },
    } as never);
  }
}
fleet.synth();
`;
}
