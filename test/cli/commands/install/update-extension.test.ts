/** The option `--update-extension` of `kubenode install`: what it adds, what it refuses, and what another run removes. */
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { InstalledObject } from '../../../../src/api/install/install.ts';
import { LABEL_MANAGED_BY, MANAGER_INSTALL } from '../../../../src/api/names.ts';
import { type DeployFlags, deployedObjects } from '../../../../src/cli/commands/install/deploy.ts';
import { removeExtension } from '../../../../src/cli/commands/install/remove-extension.ts';
import {
  checkRegistration,
  extensionObjects,
} from '../../../../src/cli/commands/install/update-extension.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import {
  extensionConfig,
  extensionSecret,
  extensionService,
} from '../../../../src/deploy/update-extension.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../../src/kube/client/errors.ts';
import { listAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { testIo } from '../../../support/test-io.ts';

const FLAGS = { cluster: true, clusterApi: true, updateExtension: true, image: 'a/b:1' } as const;
const NAME = 'kubenode-update-extension';

describe('kubenode install --update-extension', () => {
  it('adds the Secret before the pods, and the Service and the ExtensionConfig after them', async () => {
    const objects = await deployedObjects(FLAGS);
    expect(objects.map(({ kind }) => kind)).toEqual([
      'Secret',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Deployment',
      'Service',
      'ExtensionConfig',
    ]);
    expect(objects.at(-1)).toEqual({
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata: {
        name: 'kubenode',
        labels: { 'app.kubernetes.io/name': 'kubenode', [LABEL_MANAGED_BY]: 'kubenode' },
        annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `kubenode-system/${NAME}` },
      },
      spec: {
        clientConfig: { service: { namespace: 'kubenode-system', name: NAME, port: 443 } },
        settings: { onFailure: 'Wait' },
      },
    });
    expect(objects.at(-2)).toMatchObject({
      metadata: { name: NAME, namespace: 'kubenode-system' },
      spec: {
        selector: { 'app.kubernetes.io/name': 'kubenode', 'app.kubernetes.io/component': 'controllers' },
        ports: [{ port: 443, targetPort: 8444 }],
      },
    });
  });

  it('starts the controllers with the server, and with a certificate that is in no manifest', async () => {
    const objects = await deployedObjects(FLAGS);
    const pods = objects.flatMap((object) => listAt(object, 'spec', 'template', 'spec', 'containers'));
    expect(pods.flatMap((container) => listAt(container, 'args'))).toEqual([
      'controllers',
      '--cluster-api',
      '--extension-port',
      '8444',
      '--extension-host',
      '$(POD_IP)',
      '--extension-secret',
      '--port',
      '8080',
      '--host',
      '$(POD_IP)',
    ]);
    const secret = objects.find(({ kind }) => kind === 'Secret');
    expect(secret).toMatchObject({ metadata: { name: NAME, namespace: 'kubenode-system' } });
    expect(secret).not.toHaveProperty('data');
    expect(secret).not.toHaveProperty('stringData');
  });

  it('prints the same, with the role for that one Secret', async () => {
    const io = testIo();
    const args = ['install', '--cluster', '--cluster-api', '--update-extension=Fail', '--image', 'a/b:1'];
    expect(await runCommandLine(io, [...args, '--print'])).toBe(0);
    const printed = parseAllDocuments(io.stdout).map((document) => document.toJS() as KubeObject);
    expect(printed.find(({ kind }) => kind === 'ExtensionConfig')).toEqual(extensionConfig('Fail'));
    const role = printed.find(({ kind }) => kind === 'Role');
    expect(listAt(role, 'rules')).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'update'], resourceNames: [NAME] },
    ]);
  });

  it.each<[string, DeployFlags]>([
    ['without --cluster', { hub: true, clusterApi: true, updateExtension: true, image: 'a' }],
    ['without --cluster-api', { cluster: true, updateExtension: true, image: 'a' }],
    ['alone', { updateExtension: true }],
  ])('is refused %s', async (_, flags) => {
    await expect(deployedObjects(flags)).rejects.toThrow(
      '--update-extension needs --cluster and --cluster-api',
    );
  });

  it('is refused with another value than Wait and Fail', async () => {
    const io = testIo();
    expect(await runCommandLine(io, ['install', '--cluster', '--update-extension=Retry'])).toBe(64);
    expect(io.stderr).toContain('Allowed choices are Wait, Fail');
  });
});

/** Throws this code, if there is one. */
function refuse(code: KubeErrorCode | undefined, message = 'refused'): void {
  if (code !== undefined) throw new KubeError(code, message);
}

const { after } = extensionObjects(FLAGS);

function check(refusals: { served?: KubeErrorCode; applied?: KubeErrorCode }, objects = after) {
  const calls: unknown[] = [];
  const client = {
    resourceFor: async () => {
      await Promise.resolve();
      refuse(refusals.served);
    },
    apply: async (_: unknown, __: unknown, { dryRun }: { dryRun?: boolean }) => {
      await Promise.resolve();
      calls.push(dryRun);
      refuse(refusals.applied);
    },
  } as unknown as Pick<Client, 'resourceFor' | 'apply'>;
  return { calls, checked: checkRegistration(client, objects, new AbortController().signal) };
}

describe('checkRegistration', () => {
  it('asks Cluster API by a dry run, and nothing without the extension', async () => {
    const { calls, checked } = check({});
    await checked;
    expect(calls).toEqual([true]);
    const without = check({ served: 'NotFound' }, []);
    await without.checked;
    expect(without.calls).toEqual([]);
  });

  it.each([
    [
      'that is not installed',
      { served: 'NotFound' },
      'the cluster does not serve kind ExtensionConfig of runtime.cluster.x-k8s.io/v1beta2',
      'install Cluster API 1.12 or later with the feature gates RuntimeSDK and InPlaceUpdates, or leave out --update-extension',
    ],
    [
      'that refuses it',
      { applied: 'Forbidden' },
      'Cluster API does not accept ExtensionConfig kubenode: refused',
      'start Cluster API with the feature gates RuntimeSDK and InPlaceUpdates; delete an ExtensionConfig of that name that you made yourself',
    ],
  ] as const)('names what to do about a Cluster API %s', async (_, refusals, message, hint) => {
    await expect(check(refusals).checked).rejects.toMatchObject({ message, hint });
  });

  it('leaves an unreachable server as it is reported', async () => {
    await expect(check({ served: 'Unreachable' }).checked).rejects.toMatchObject({ code: 'Unreachable' });
    await expect(check({ applied: 'Timeout' }).checked).rejects.toMatchObject({ code: 'Timeout' });
  });
});

/** As the API server returns what install applied, or another manager. */
function live(object: KubeObject, manager = MANAGER_INSTALL): KubeObject {
  const fieldsV1 = { 'f:metadata': { 'f:labels': { [`f:${LABEL_MANAGED_BY}`]: {} } } };
  const managedFields = [{ manager, operation: 'Apply' as const, fieldsV1 }];
  const metadata = { ...object.metadata, uid: 'u', resourceVersion: '7', managedFields };
  return { ...object, metadata };
}

const ALL = [extensionConfig('Wait'), extensionSecret(), extensionService()];

function bed(present: readonly KubeObject[], refusals: Readonly<Record<string, KubeErrorCode>> = {}) {
  const io = testIo();
  const deleted: string[] = [];
  const asked: string[] = [];
  const client = {
    resourceFor: async () => {
      await Promise.resolve();
      refuse(refusals['discovery']);
    },
    get: async ({ kind }: { kind: string }) => {
      await Promise.resolve();
      asked.push(kind);
      refuse(refusals[kind]);
      const found = present.find((object) => object.kind === kind);
      if (!found) throw new KubeError('NotFound', `${kind} not found`);
      return found;
    },
    delete: async ({ kind }: { kind: string }, _: unknown, { dryRun }: { dryRun?: boolean }) => {
      await Promise.resolve();
      refuse(refusals[`delete ${kind}`]);
      deleted.push(dryRun ? `${kind} (dry run)` : kind);
    },
  } as unknown as Pick<Client, 'get' | 'delete' | 'resourceFor'>;
  const run = (installed: readonly InstalledObject[] = [], dryRun = false) =>
    removeExtension(io, client, { dryRun, installed });
  return { io, run, deleted, asked };
}

describe('removeExtension', () => {
  it('tells Cluster API first, and removes the Service last', async () => {
    const { run, deleted } = bed(ALL.map((each) => live(each)));
    expect((await run()).map(({ outcome }) => outcome)).toEqual(['deleted', 'deleted', 'deleted']);
    expect(deleted).toEqual(['ExtensionConfig', 'Secret', 'Service']);
    const dry = bed(ALL.map((each) => live(each)));
    await dry.run([], true);
    expect(dry.deleted).toEqual(['ExtensionConfig (dry run)', 'Secret (dry run)', 'Service (dry run)']);
  });

  it('finds what an interrupted removal left, also where Cluster API was removed before', async () => {
    const { run, deleted } = bed(
      [extensionSecret(), extensionService()].map((each) => live(each)),
      {
        discovery: 'NotFound',
      },
    );
    await run();
    expect(deleted).toEqual(['Secret', 'Service']);
  });

  it('reads no Secret where nothing else of it is there', async () => {
    const { run, asked } = bed([], { Secret: 'Forbidden' });
    expect(await run()).toEqual([]);
    expect(asked).toEqual(['ExtensionConfig', 'Service']);
  });

  it('leaves what another person made, and all of it after this option or a failure', async () => {
    const { run, deleted } = bed(ALL.map((each) => live(each, 'kubectl')));
    await run();
    await run([{ object: extensionConfig('Wait'), outcome: 'unchanged' }]);
    await run([{ object: extensionService(), outcome: 'failed', error: new Error('x') }]);
    expect(deleted).toEqual([]);
  });

  it('warns a user without the rights, and reports what could not be deleted', async () => {
    const forbidden = bed(
      ALL.map((each) => live(each)),
      { ExtensionConfig: 'Forbidden' },
    );
    expect(await forbidden.run()).toEqual([]);
    expect(forbidden.io.stderr).toContain('the update extension of Cluster API was not removed');
    const failing = bed(
      ALL.map((each) => live(each)),
      { 'delete Secret': 'Conflict' },
    );
    expect((await failing.run()).map(({ outcome }) => outcome)).toEqual(['deleted', 'failed', 'deleted']);
  });
});
