/** Hub and repository are restored from a backup, and the clusters are not: what they run wins over the older record. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLUSTERS, PIPELINES, RELEASES } from '../../../src/api/generated/resources.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { testIo } from '../../support/test-io.ts';
import { STAGES, startTestFleet, type TestFleet } from './test-fleet.ts';

const EXTRA = 'clusters/test/web/extra.yaml';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

describe('a hub and a repository that are restored from a backup', () => {
  it('S39 write to no cluster that runs a commit which neither of them has', async () => {
    const extra = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: default}\n';
    fleet.commitFiles('extra', { [EXTRA]: extra });
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    const before = await fleet.sync('one');
    await fleet.allProven(first);
    const backup = await backupOf(fleet.hub.client);
    fleet.commitFiles('without extra', { [EXTRA]: undefined });
    const newest = fleet.commit('2', 'second');
    await fleet.allProven(newest);
    await before.close();

    const resources = await resourceVersions();
    await restore(fleet.hub.client, backup);
    moveBranch(first);
    await fleet.sync('two');
    for (const name of STAGES) {
      await expect
        .poll(() => fleet.state(name))
        .toMatchObject({
          state: 'Held',
          message: expect.stringMatching(
            new RegExp(
              `^nothing is written to ${name}: .*${newest.slice(0, 12)}.*kubenode release accept-head`,
            ),
          ) as string,
        });
    }
    await expect.poll(() => fleet.head()).toMatchObject({ verdict: 'NotDescendant', commit: first });
    expect(await fleet.versions()).toEqual(['2', '2']);
    expect(await resourceVersions()).toEqual(resources);

    // The commit returns: the clusters continue with what they run.
    moveBranch(newest);
    await fleet.allProven(newest);
    expect(await resourceVersions()).toEqual(resources);
    for (const name of STAGES) {
      expect((await fleet.state(name)).history).toMatchObject([
        { commit: newest, state: 'Proven', adopted: true },
        { commit: first, state: 'Proven' },
      ]);
    }
  });

  it('S39 go back to the backup once a person has accepted its head', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    const before = await fleet.sync('one');
    await fleet.allProven(first);
    const backup = await backupOf(fleet.hub.client);
    await fleet.allProven(fleet.commit('2', 'second'));
    await before.close();
    await restore(fleet.hub.client, backup);
    moveBranch(first);
    await fleet.sync('two');
    await expect.poll(() => fleet.head()).toMatchObject({ verdict: 'NotDescendant' });

    const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
    expect(await runCommandLine(io, ['release', 'accept-head', first, '--yes'])).toBe(0);
    await fleet.allProven(first);
    await expect.poll(() => fleet.versions()).toEqual(['1', '1']);
  });
});

/** The repository forgets every commit that is not in the history of the branch any more. */
function moveBranch(commit: string): void {
  const repository = fleet.repository();
  repository.push('--force', 'origin', `${commit}:refs/heads/main`);
  repository.git('-C', repository.bare, 'gc', '--quiet', '--prune=now');
}

type Backup = readonly (readonly [Resource, readonly KubeObject[]])[];

async function backupOf(hub: Client): Promise<Backup> {
  const kinds = [CLUSTERS, PIPELINES, RELEASES];
  return Promise.all(kinds.map(async (kind) => [kind, (await hub.list(kind)).items] as const));
}

/** Objects as they were, their status included. The others are deleted. */
async function restore(hub: Client, backup: Backup): Promise<void> {
  for (const [kind, objects] of backup) {
    const { items } = await hub.list(kind);
    for (const { metadata } of items) {
      const { name, uid = '' } = metadata;
      const old = objects.find((each) => each.metadata.name === name) as { status?: unknown } | undefined;
      if (!old) await hub.delete(kind, { name }, { uid });
      else {
        const body = [{ op: 'add', path: '/status', value: old.status ?? {} }];
        await hub.patch(kind, { name }, { type: 'json', body }, { subresource: 'status' });
      }
    }
  }
}

/** A write to an object changes its version. */
async function resourceVersions(): Promise<unknown[]> {
  return Promise.all(
    STAGES.map(async (name) => {
      const { items } = await fleet.clusters[name].client.list(CONFIG_MAPS, { namespace: 'default' });
      return items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
    }),
  );
}
