/** `kubenode install --console`. */
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { deployedObjects, permittedPorts } from '../../../../src/cli/commands/install/deploy.ts';
import { EXIT } from '../../../../src/cli/errors.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { listAt, valueAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { testIo } from '../../../support/test-io.ts';

const image = 'registry.example.com/kubenode:1';
const argsOf = (objects: readonly KubeObject[]): readonly unknown[] =>
  objects
    .flatMap((object) => listAt(object, 'spec', 'template', 'spec', 'containers'))
    .flatMap((container) => listAt(container, 'args'));

describe('kubenode install --console', () => {
  it('CON-26 runs the console with a login, and no other program', async () => {
    const objects = await deployedObjects({ console: new URL('https://kubenode.example.com'), image });
    expect(objects.filter(({ kind }) => kind === 'Deployment')).toHaveLength(1);
    const args = argsOf(objects);
    expect(args.slice(0, 5)).toEqual([
      'console',
      '--url',
      'https://kubenode.example.com',
      '--login',
      'token',
    ]);
    expect(permittedPorts({ console: new URL('https://kubenode.example.com') })).toEqual([443, 6443]);
  });

  it('CON-27 lets people sign in at the issuer of a Secret, which the pod finds by name', async () => {
    const url = new URL('https://kubenode.example.com');
    const objects = await deployedObjects({ console: url, consoleOidc: 'console-oidc', image });
    expect(argsOf(objects).join(' ')).toContain('--login oidc --oidc /etc/kubenode-oidc/oidc.yaml');
    const pods = objects.map((object) => valueAt(object, 'spec', 'template', 'spec'));
    expect(pods.flatMap((pod) => listAt(pod, 'volumes'))).toContainEqual(
      expect.objectContaining({ name: 'oidc', secret: { secretName: 'console-oidc' } }),
    );
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
    const ports = listAt(policy, 'spec', 'egress').flatMap((rule) => listAt(rule, 'ports'));
    expect(ports).toContainEqual({ port: 53, protocol: 'UDP' });
  });

  it('CON-33 reads the clusters of a Secret with the ID tokens of people, and connects to the ports of API servers and DNS only', async () => {
    const url = new URL('https://kubenode.example.com');
    const flags = { console: url, consoleClusters: 'console-clusters', image };
    const objects = await deployedObjects({ ...flags, consoleOidc: 'console-oidc' });
    expect(argsOf(objects).join(' ')).toContain('--login-clusters /etc/kubenode-clusters/clusters.yaml');
    const pods = objects.map((object) => valueAt(object, 'spec', 'template', 'spec'));
    expect(pods.flatMap((pod) => listAt(pod, 'volumes'))).toContainEqual(
      expect.objectContaining({ name: 'clusters', secret: { secretName: 'console-clusters' } }),
    );
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
    const ports = listAt(policy, 'spec', 'egress').flatMap((rule) => listAt(rule, 'ports'));
    expect(ports.map((port) => valueAt(port, 'port'))).toEqual([443, 6443, 53, 53]);
    await expect(deployedObjects(flags)).rejects.toThrow('--console-clusters needs --console-oidc');
  });

  it('CON-30 shows the past from a Prometheus that the pod finds by name, and may connect to', async () => {
    const url = new URL('https://kubenode.example.com');
    const prometheusUrl = 'http://prometheus.monitoring:9090';
    const objects = await deployedObjects({ console: url, prometheusUrl, prometheusCluster: 'eu-1', image });
    expect(argsOf(objects).join(' ')).toContain(`--prometheus-url ${prometheusUrl}`);
    expect(argsOf(objects).join(' ')).toContain('--prometheus-cluster eu-1');
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
    const ports = listAt(policy, 'spec', 'egress').flatMap((rule) => listAt(rule, 'ports'));
    expect(ports).toContainEqual({ port: 9090, protocol: 'TCP' });
    expect(ports).toContainEqual({ port: 53, protocol: 'UDP' });
  });

  it('CON-31 refuses a Prometheus without the name of the cluster whose series people may get', async () => {
    const url = new URL('https://kubenode.example.com');
    const prometheusUrl = 'http://prometheus.monitoring:9090';
    await expect(deployedObjects({ console: url, prometheusUrl, image })).rejects.toThrow(
      '--console with --prometheus-url needs --prometheus-cluster',
    );
    await expect(
      deployedObjects({ cluster: true, prometheusUrl, prometheusCluster: 'a', image }),
    ).rejects.toThrow('--prometheus-cluster needs --console and --prometheus-url');
    const objects = await deployedObjects({ console: url, prometheusUrl, prometheusCluster: '', image });
    expect(argsOf(objects)).toContain('');
  });

  it('refuses an issuer without a console', async () => {
    await expect(deployedObjects({ consoleOidc: 'console-oidc' })).rejects.toThrow(
      '--console-oidc needs --console',
    );
  });

  it('prints its objects beside those of the other programs', async () => {
    const io = testIo();
    const args = [
      'install',
      '--hub',
      '--console',
      'https://kubenode.example.com:8443',
      '--image',
      image,
      '--print',
    ];
    expect(await runCommandLine(io, args)).toBe(0);
    const printed = parseAllDocuments(io.stdout).map((document) => document.toJS() as KubeObject);
    const deployments = printed
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata }) => metadata.name);
    expect(deployments).toEqual(['kubenode-sync', 'kubenode-console']);
    expect(argsOf(printed)).toContain('https://kubenode.example.com:8443');
  });

  it.each([
    'http://kubenode.example.com',
    'http://localhost',
    'kubenode.example.com',
    'https://a.example/path',
    'https://a@b.example',
  ])('CON-26 refuses %s, which is not an address with TLS and without a path', async (url) => {
    const io = testIo();
    expect(await runCommandLine(io, ['install', '--console', url, '--image', image, '--print'])).toBe(
      EXIT.usage,
    );
    expect(io.stderr).toContain('Expected https://NAME[:PORT]');
  });
});
