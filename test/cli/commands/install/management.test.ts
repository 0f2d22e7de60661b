import { describe, expect, it } from 'vitest';
import { type DeployFlags, deployedObjects } from '../../../../src/cli/commands/install/deploy.ts';
import { listAt, valueAt } from '../../../../src/kube/objects/json.ts';

const CLUSTER = { namespace: 'fleet', name: 'prod-eu-1' };
const FLAGS = {
  cluster: true,
  clusterApi: true,
  clusterApiSecret: 'management',
  clusterApiCluster: CLUSTER,
  image: 'a/b:1',
} as const;

async function podOf(flags: DeployFlags): Promise<unknown> {
  const objects = await deployedObjects(flags);
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  return valueAt(deployment, 'spec', 'template', 'spec');
}

describe('kubenode install --cluster-api-secret', () => {
  it('CAP-21 starts the controllers with the connection of the Secret and the name of the Cluster', async () => {
    const pod = await podOf(FLAGS);
    const args = listAt(pod, 'containers', 0, 'args');
    expect(args.slice(args.indexOf('--cluster-api'))).toEqual(
      expect.arrayContaining([
        '--cluster-api-kubeconfig',
        '/etc/kubenode-management/kubeconfig',
        '--cluster-api-cluster',
        'fleet/prod-eu-1',
      ]),
    );
    expect(listAt(pod, 'volumes')).toContainEqual({
      name: 'management',
      secret: { secretName: 'management' },
    });
    expect(listAt(pod, 'containers', 0, 'volumeMounts')).toContainEqual({
      name: 'management',
      mountPath: '/etc/kubenode-management',
      readOnly: true,
    });
  });

  it('names the Cluster also where its objects are beside those of others in this cluster', async () => {
    const { clusterApiSecret: _, ...here } = FLAGS;
    const pod = await podOf(here);
    const args = listAt(pod, 'containers', 0, 'args');
    expect(args).toContain('fleet/prod-eu-1');
    expect(args).not.toContain('--cluster-api-kubeconfig');
  });

  it('mounts the Secret of notifications beside it', async () => {
    const pod = await podOf({ ...FLAGS, notifications: 'receivers' });
    expect(listAt(pod, 'volumes').map((each) => valueAt(each, 'secret', 'secretName'))).toEqual(
      expect.arrayContaining(['management', 'receivers']),
    );
  });

  it.each<[string, DeployFlags, string]>([
    [
      'no Cluster',
      { ...FLAGS, clusterApiCluster: undefined as never },
      '--cluster-api-secret needs --cluster-api-cluster',
    ],
    ['no pods', { ...FLAGS, cluster: undefined as never }, '--cluster-api-secret needs --cluster'],
    [
      'Cluster API here',
      { ...FLAGS, clusterApi: undefined as never },
      '--cluster-api-secret needs --cluster-api',
    ],
    [
      'a Cluster alone, without pods',
      { clusterApi: true, clusterApiCluster: CLUSTER, hub: true, image: 'a/b:1' },
      '--cluster-api-cluster needs --cluster',
    ],
    ['an extension that registers here', { ...FLAGS, updateExtension: true }, 'registers in this cluster'],
  ])('refuses %s', async (_, flags, message) => {
    await expect(deployedObjects(flags)).rejects.toThrow(message);
  });
});
