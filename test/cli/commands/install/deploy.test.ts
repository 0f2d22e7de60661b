/** The options of `kubenode install --hub`, `--cluster` and `--hosting`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { deployedObjects } from '../../../../src/cli/commands/install/deploy.ts';
import { EXIT } from '../../../../src/cli/errors.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { KUBENODE_VERSION } from '../../../../src/cli/version.ts';
import { listAt, textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

/** The images of all containers. */
async function images(
  flags: Parameters<typeof deployedObjects>[0],
): Promise<readonly (string | undefined)[]> {
  const objects = await deployedObjects(flags);
  return objects
    .flatMap((object) => listAt(object, 'spec', 'template', 'spec', 'containers'))
    .map((container) => textAt(container, 'image'));
}

async function argumentsOfControllers(flags: object): Promise<readonly unknown[]> {
  const objects = await deployedObjects({ cluster: true, image: 'a/b:1', ...flags });
  const containers = objects.flatMap((object) => listAt(object, 'spec', 'template', 'spec', 'containers'));
  return containers.flatMap((container) => listAt(container, 'args'));
}

describe('deployedObjects', () => {
  it('adds nothing without --hub and --cluster', async () => {
    expect(await deployedObjects({})).toEqual([]);
  });

  it('adds sync to a hub, the controllers to a cluster, and both to a cluster that is both', async () => {
    const registry = 'registry.example.com/team';
    const names = async (flags: Parameters<typeof deployedObjects>[0]): Promise<readonly string[]> =>
      (await deployedObjects({ ...flags, registry }))
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ metadata }) => metadata.name);
    expect(await names({ hub: true })).toEqual(['kubenode-sync']);
    expect(await names({ cluster: true })).toEqual(['kubenode-controllers']);
    expect(await names({ hub: true, cluster: true })).toEqual(['kubenode-sync', 'kubenode-controllers']);
  });

  it('lets the controllers follow Cluster API when a person asks for it', async () => {
    expect(await argumentsOfControllers({})).not.toContain('--cluster-api');
    expect(await argumentsOfControllers({ clusterApi: true })).toContain('--cluster-api');
  });

  it('lets the controllers follow Nodes of Karpenter when a person asks for it', async () => {
    expect(await argumentsOfControllers({})).not.toContain('--external-nodes');
    const args = await argumentsOfControllers({ clusterApi: true, externalNodes: true });
    expect(args).toEqual(expect.arrayContaining(['--cluster-api', '--external-nodes']));
  });

  it('gives the controllers the labels of node groups, and prints the role that lists Nodes', async () => {
    const labels = 'cloud.google.com/gke-nodepool in (a,b)';
    const io = testIo();
    const args = ['install', '--cluster', '--image', 'a/b:1', '--print', '--external-nodes-selector', labels];
    expect(await runCommandLine(io, args)).toBe(0);
    const objects = parseAllDocuments(io.stdout).map((document) => document.toJS() as KubeObject);
    const [role] = objects.filter(({ kind }) => kind === 'ClusterRole');
    expect(listAt(role, 'rules').flatMap((rule) => listAt(rule, 'resources'))).toContain('nodes');
    const containers = objects.flatMap((each) => listAt(each, 'spec', 'template', 'spec', 'containers'));
    const passedOn = containers.flatMap((container) => listAt(container, 'args'));
    expect(passedOn).toContain(labels);
    expect(passedOn[passedOn.indexOf(labels) - 1]).toBe('--external-nodes-selector');
    expect(passedOn).not.toContain('--external-nodes');
  });

  it.each(['install', 'controllers'])(
    'refuses labels of node groups that are not valid, or that each Node has, in %s',
    async (command) => {
      const refused = async (labels: string): Promise<string> => {
        const io = testIo();
        expect(await runCommandLine(io, [command, '--external-nodes-selector', labels])).toBe(EXIT.usage);
        return io.stderr;
      };
      expect(await refused('')).toContain('Expected labels as kubectl takes them');
      expect(await refused('kubernetes.io/os=linux')).toContain('Expected a label that only the Nodes');
    },
  );

  it('prints the role that reads NodeClaims only with --external-nodes', async () => {
    const args = ['install', '--cluster', '--image', 'a/b:1', '--print'];
    const [without, withRole] = [testIo(), testIo()];
    await runCommandLine(without, args);
    await runCommandLine(withRole, [...args, '--external-nodes']);
    expect(without.stdout).not.toContain('kubenode-external');
    expect(withRole.stdout).toContain('nodeclaims');
  });

  it('adds hosting with the file of its images, in a ConfigMap before its pods', async () => {
    const flags = { hosting: true, images: 'images.yaml', image: 'registry.example.com/kubenode:1' } as const;
    const objects = await deployedObjects(flags, 'kubenode: a');
    expect(objects[0]).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'kubenode-hosting', namespace: 'kubenode-system' },
      data: { 'images.yaml': 'kubenode: a' },
    });
    expect(objects.at(-1)).toMatchObject({ kind: 'Deployment', metadata: { name: 'kubenode-hosting' } });
  });

  it('takes the image of this version from a registry, or another one', async () => {
    expect(await images({ hub: true, registry: 'registry.example.com:5000/team' })).toEqual([
      `registry.example.com:5000/team/kubenode:${KUBENODE_VERSION}`,
    ]);
    const image = `registry.example.com/kubenode@sha256:${'0'.repeat(64)}`;
    expect(await images({ cluster: true, image })).toEqual([image]);
  });

  it.each<[string, Parameters<typeof deployedObjects>[0], string]>([
    ['no image', { hub: true }, '--hub, --cluster, --hosting and --console need --registry or --image'],
    ['both images', { hub: true, image: 'a', registry: 'b' }, 'expected --registry or --image, got both'],
    ['a URL', { hub: true, registry: 'https://a.example' }, 'invalid image reference: https://a.example/'],
    ['a space', { hub: true, image: 'a b' }, 'invalid image reference: a b'],
    ['an image for nothing', { image: 'a' }, '--image needs --hub, --cluster, --hosting or --console'],
    ['replicas of nothing', { replicas: 3 }, '--replicas needs --hub, --cluster, --hosting or --console'],
    [
      'a port of nothing',
      { egressPort: [1] },
      '--egress-port needs --hub, --cluster, --hosting or --console',
    ],
    [
      'a Prometheus of hosting',
      { hosting: true, image: 'a', images: 'a.yaml', prometheusUrl: 'http://p' },
      '--prometheus-url needs --hub, --cluster or --console',
    ],
    [
      'a collector of hosting',
      { hosting: true, image: 'a', images: 'a.yaml', otlpEndpoint: 'http://c' },
      '--otlp-endpoint needs --hub or --cluster',
    ],
    [
      'a name in traces without a collector',
      { cluster: true, image: 'a', otlpCluster: 'prod' },
      '--otlp-cluster needs --otlp-endpoint',
    ],
    ['hosting without images', { hosting: true, image: 'a' }, '--hosting needs --images'],
    ['images without hosting', { hub: true, image: 'a', images: 'a.yaml' }, '--images needs --hosting'],
    ['webhooks without a sync', { cluster: true, image: 'a', webhooks: true }, '--webhooks needs --hub'],
    [
      'maintenance without controllers',
      { hub: true, image: 'a', maintenance: true },
      '--maintenance needs --cluster',
    ],
    [
      'receivers without controllers',
      { hub: true, image: 'a', notifications: 'n' },
      '--notifications needs --cluster',
    ],
    ['nothing to print', { print: true }, '--print needs --hub, --cluster, --hosting or --console'],
  ])('refuses %s', async (_, flags, message) => {
    await expect(deployedObjects(flags)).rejects.toThrow(message);
  });
});

describe('kubenode install --images', () => {
  it('refuses a file that cannot be read, and one with tags instead of digests, before it asks a server', async () => {
    const cwd = tempFolder();
    const args = ['install', '--hosting', '--image', 'a', '--print', '--images', 'images.yaml'];
    const io = testIo({ cwd });
    expect(await runCommandLine(io, args)).not.toBe(0);
    expect(io.stderr).toContain('the file cannot be read');
    writeFileSync(join(cwd, 'images.yaml'), 'versions: []\nkubenode: registry.example.com/kubenode:1\n');
    const second = testIo({ cwd });
    expect(await runCommandLine(second, args)).not.toBe(0);
    expect(second.stderr).toContain('images.yaml is not a valid file of images');
  });
});

describe('kubenode install --print', () => {
  it('prints the objects as YAML documents, without a server', async () => {
    const io = testIo({ env: { KUBECONFIG: '/nonexistent' } });
    const args = ['install', '--hub', '--cluster', '--registry', 'registry.example.com', '--replicas', '1'];
    expect(await runCommandLine(io, [...args, '--egress-port', '8443', '--print'])).toBe(0);
    const objects = [...parseAllDocuments(io.stdout)].map((document) => document.toJS() as unknown);
    expect(objects).toHaveLength(6);
    const flags = { hub: true, cluster: true, registry: 'registry.example.com', replicas: 1 } as const;
    expect(objects).toEqual(await deployedObjects({ ...flags, egressPort: [8443] }));
  });

  it.each(['0', '5', 'two'])('refuses %s replicas', async (replicas) => {
    const io = testIo();
    expect(await runCommandLine(io, ['install', '--hub', '--image', 'a', '--replicas', replicas])).toBe(64);
    expect(io.stderr).toContain('Expected an integer from 1 to 4');
  });
});
