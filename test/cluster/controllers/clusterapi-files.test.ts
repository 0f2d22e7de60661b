/**
 * The update extension with the real core of Cluster API and the real kinds of its kubeadm bootstrap provider: files of a KubeadmConfig. The test
 * plays the part of that provider, as that of the infrastructure: it makes no bootstrap data from the configs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANNOTATION_BOOTSTRAP } from '../../../src/api/names.ts';
import { listAt } from '../../../src/kube/objects/json.ts';
import { noCoreReason } from '../../support/cluster-api/core.ts';
import { kubeadmCrds, noClusterApiReason } from '../../support/cluster-api/crds.ts';
import {
  KUBEADM_API_VERSION,
  KUBEADM_CONFIGS,
  KUBEADM_TEMPLATES,
} from '../../support/cluster-api/infrastructure.ts';
import { WORKLOAD_NAMESPACE } from '../../support/cluster-api/workload-cluster.ts';
import { REPLICAS, startUpdateBed, UPDATED, type UpdateBed } from './clusterapi-bed.ts';
import { programSpec } from './rollout-fleet.ts';

const PATH = '/etc/runtime/config.toml';
const FROM = '1.36.1';
const TO = '1.36.2';
const KUBELETS = Object.fromEntries([FROM, TO].map((version) => [version, programSpec('kubelet', version)]));
const RUNTIMES = Object.fromEntries(['1', '2', '3'].map((version) => [version, runtimeSpec(version)]));
const reason = noClusterApiReason ?? (await noCoreReason());

function runtimeSpec(version: string): object {
  const file = { path: PATH, content: `version = ${version}\n`, mode: '0600', onChange: 'Restart' };
  // The unit has no text of the version: the file is all that differs.
  return { ...programSpec('runtime', 'any'), version, files: [file] };
}

/** The entry of a KubeadmConfig, as runtime of this version writes it. */
function fileOf(version: string): object {
  return { path: PATH, content: `version = ${version}`, permissions: '0600' };
}

function configRef(name: string): object {
  const { group: apiGroup, kind } = KUBEADM_TEMPLATES;
  return { apiGroup, kind, name };
}

describe.skipIf(reason)('files in place, by the core of Cluster API', () => {
  let bed: UpdateBed;

  beforeAll(async () => {
    bed = await startUpdateBed({
      components: [
        { name: 'kubelet', specs: KUBELETS },
        { name: 'runtime', specs: RUNTIMES },
      ],
      version: FROM,
      crds: await kubeadmCrds(),
      bootstrapKinds: [KUBEADM_CONFIGS],
    });
    for (const version of ['1', '2', '3']) await createTemplate(version, version);
    await createTemplate('commands', '2', { preKubeadmCommands: ['echo 2'] });
  });

  afterAll(async () => {
    await bed?.stop();
  });

  it('CAP-17 CAP-18 take each machine to the new file, and then with a version, and replace none', async () => {
    await bed.createDeployment('files', configRef('1'));
    await expect.poll(records, UPDATED).toBe(REPLICAS);
    const before = await bed.uids('files');
    await bed.patchDeployment('files', { bootstrap: { configRef: configRef('2') } });
    await expect.poll(() => bed.assigned('files', 'runtime-2'), UPDATED).toBeGreaterThan(0);
    await bed.restart();
    await expect.poll(runtimes, UPDATED).toEqual(['runtime-2', 'runtime-2']);
    await expect.poll(contents, UPDATED).toEqual(['version = 2', 'version = 2']);
    await bed.patchDeployment('files', { version: `v${TO}`, bootstrap: { configRef: configRef('3') } });
    await expect.poll(runtimes, UPDATED).toEqual(['runtime-3', 'runtime-3']);
    await expect
      .poll(() => bed.committed('files', 'kubelet'), UPDATED)
      .toEqual([`kubelet-${TO}`, `kubelet-${TO}`]);
    expect(await bed.uids('files')).toEqual(before);
  });

  it('CAP-18 change nothing for a request that Cluster API did not send', async () => {
    await bed.createDeployment('forged', configRef('1'));
    const versions = async (): Promise<readonly unknown[]> =>
      (await bed.machines('forged')).map(({ spec }) =>
        spec.components.map(({ componentRef }) => componentRef),
      );
    const before = await versions();
    for (const { metadata, spec } of await bed.theirs('forged')) {
      const bootstrapConfig = {
        apiVersion: KUBEADM_API_VERSION,
        kind: KUBEADM_CONFIGS.kind,
        spec: { files: [fileOf('2')] },
      };
      expect(
        await bed.call('UpdateMachine', { desired: { machine: { metadata, spec }, bootstrapConfig } }),
      ).toMatchObject({
        status: 'Failure',
        message: expect.stringContaining('is not being updated') as string,
      });
    }
    expect(await versions()).toEqual(before);
  });

  it('CAP-17 leave a file to Cluster API where another field changes with it', async () => {
    await bed.createDeployment('commands', configRef('1'));
    const before = await bed.uids('commands');
    await bed.patchDeployment('commands', { bootstrap: { configRef: configRef('commands') } });
    const replaced = async (): Promise<boolean> => {
      const present = await bed.uids('commands');
      return present.length === REPLICAS && present.every((uid) => !before.includes(uid));
    };
    await expect.poll(replaced, UPDATED).toBe(true);
  });

  async function createTemplate(name: string, version: string, more: object = {}): Promise<void> {
    const kubeletExtraArgs = [{ name: 'v', value: '2' }];
    const spec = {
      joinConfiguration: { nodeRegistration: { kubeletExtraArgs } },
      files: [{ path: '/etc/motd', content: 'no component covers this' }, fileOf(version)],
      ...more,
    };
    await bed.admin.create(KUBEADM_TEMPLATES, {
      apiVersion: KUBEADM_API_VERSION,
      kind: KUBEADM_TEMPLATES.kind,
      metadata: { namespace: WORKLOAD_NAMESPACE, name },
      spec: { template: { spec } },
    });
  }

  function runtimes(): Promise<readonly (string | undefined)[]> {
    return bed.committed('files', 'runtime');
  }

  /** Counts the machines whose state before an update is known. */
  async function records(): Promise<number> {
    const machines = await bed.machines('files');
    return machines.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_BOOTSTRAP]).length;
  }

  /** Returns the file in the configs of the machines. */
  async function contents(): Promise<readonly unknown[]> {
    const { items } = await bed.admin.list(KUBEADM_CONFIGS, { labelSelector: 'deployment=files' });
    return items.map((config) => (listAt(config, 'spec', 'files')[1] as { content?: unknown }).content);
  }
});
