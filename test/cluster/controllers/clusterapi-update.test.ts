/** The update extension with the real core of Cluster API: versions of Kubernetes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import { MANAGER_CLUSTERAPI_UPDATE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { noCoreReason } from '../../support/cluster-api/core.ts';
import { noClusterApiReason } from '../../support/cluster-api/crds.ts';
import { infraRef } from '../../support/cluster-api/workload-cluster.ts';
import { REPLICAS, startUpdateBed, UPDATED, type UpdateBed } from './clusterapi-bed.ts';
import { programSpec } from './rollout-fleet.ts';

const FROM = '1.36.1';
const TO = '1.36.2';
const KUBELETS = Object.fromEntries([FROM, TO].map((version) => [version, programSpec('kubelet', version)]));
const reason = noClusterApiReason ?? (await noCoreReason());

describe.skipIf(reason)('updates in place, by the core of Cluster API', () => {
  let bed: UpdateBed;

  beforeAll(async () => {
    bed = await startUpdateBed({ components: [{ name: 'kubelet', specs: KUBELETS }], version: FROM });
  });

  afterAll(async () => {
    await bed?.stop();
  });

  it('CAP-05 CAP-06 take each machine to the new version, and replace none, also when killed in the middle', async () => {
    const kubelets = () => bed.committed('versions', 'kubelet');
    await bed.createDeployment('versions');
    const before = await bed.uids('versions');
    await bed.patchDeployment('versions', { version: `v${TO}` });
    await expect.poll(() => bed.assigned('versions', `kubelet-${TO}`), UPDATED).toBeGreaterThan(0);
    await bed.restart();
    await expect.poll(kubelets, UPDATED).toEqual([`kubelet-${TO}`, `kubelet-${TO}`]);
    await expect.poll(() => theirVersions('versions'), UPDATED).toEqual([`v${TO}`, `v${TO}`]);
    expect(await bed.uids('versions')).toEqual(before);
    // The entry of a pin cannot be removed while its grant is there.
    await expect.poll(() => granted('versions'), UPDATED).toBe(0);
    // As the guide returns a kubelet: without the pin the set decides again.
    for (const { metadata } of await bed.machines('versions')) {
      const object = {
        apiVersion: API_VERSION,
        kind: 'Machine',
        metadata: { name: metadata.name },
        spec: {},
      };
      await bed.admin.apply(MACHINES, object, { fieldManager: MANAGER_CLUSTERAPI_UPDATE });
    }
    await expect.poll(kubelets, UPDATED).toEqual([`kubelet-${FROM}`, `kubelet-${FROM}`]);
  });

  it('CAP-05 leave a change of another field to Cluster API, which replaces the machines', async () => {
    await bed.createDeployment('sizes');
    const before = await bed.uids('sizes');
    await bed.workload.createTemplate('larger', { size: 'large' });
    await bed.patchDeployment('sizes', { version: `v${TO}`, infrastructureRef: infraRef('larger') });
    const replaced = async (): Promise<boolean> => {
      const present = await bed.uids('sizes');
      return present.length === REPLICAS && present.every((uid) => !before.includes(uid));
    };
    await expect.poll(replaced, UPDATED).toBe(true);
  });

  /** Counts the machines with a grant in an entry. */
  async function granted(deployment: string): Promise<number> {
    const items = await bed.machines(deployment);
    return items.filter(({ spec }) => spec.components.some(({ grant }) => grant !== undefined)).length;
  }

  async function theirVersions(deployment: string): Promise<readonly (string | undefined)[]> {
    return (await bed.theirs(deployment)).map((each) => textAt(each, 'spec', 'version'));
  }
});
