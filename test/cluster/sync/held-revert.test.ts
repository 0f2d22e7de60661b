/** A revert that removes what a commit added is judged by the delete budget like every commit. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const EXTRA = 'clusters/test/web/extra.yaml';
/** More than the default budget of 10. */
const MANY = 12;

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

function configMaps(count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra-${index}, namespace: default}\n`,
  ).join('---\n');
}

async function extras(): Promise<number> {
  const { items } = await fleet.clusters.test.client.list(CONFIG_MAPS, { namespace: 'default' });
  return items.filter(({ metadata }) => metadata.name.startsWith('extra-')).length;
}

async function acknowledge(cluster: string): Promise<TestIo & { readonly code: number }> {
  const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
  const code = await runCommandLine(io, ['release', 'acknowledge', cluster, '--reason', 'taken back']);
  return Object.assign(io, { code });
}

describe('a revert of a commit that added objects', () => {
  it('FST-8 goes back at once within the delete budget', async () => {
    await prove(fleet.commit('1', 'first'));
    await fleet.allProven(fleet.commitFiles('add', { [EXTRA]: configMaps(3) }));
    await fleet.allProven(fleet.commitFiles('revert', { [EXTRA]: undefined }));
    expect(await extras()).toBe(0);
  });

  it('FST-8 is held over the delete budget, until a commit contains what release acknowledge prints', async () => {
    await prove(fleet.commit('1', 'first'));
    await fleet.allProven(fleet.commitFiles('add', { [EXTRA]: configMaps(MANY) }));
    const revert = fleet.commitFiles('revert', { [EXTRA]: undefined });
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: revert, state: 'Held' });
    const { message, held } = await fleet.state('test');
    expect(message).toContain(`${MANY} of ${MANY + 1} objects of unit web would be deleted`);
    expect(await extras()).toBe(MANY);

    const { code, stdout, stderr } = await acknowledge('test');
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Add this to spec\.acknowledgements of Pipeline fleet .*\n {2}unit web in test\n$/,
    );
    const [entry] = /\{.*\}/.exec(stdout) ?? [];
    const acknowledgement = JSON.parse(entry ?? '') as object;
    expect(acknowledgement).toEqual({ ...held?.[0], reason: 'taken back' });
    expect((await acknowledge('prod')).stderr).toContain('no deletes are held in cluster prod');

    // The Pipeline of this fleet is not in git.
    const body = { spec: { acknowledgements: [acknowledgement] } };
    const patch = { type: 'merge', body } as const;
    await fleet.hub.client.patch(PIPELINES, { name: 'fleet' }, patch, { fieldManager: 'anna' });
    await fleet.allProven(revert);
    expect(await extras()).toBe(0);
    expect(await fleet.state('test')).not.toHaveProperty('held');
  });
});

async function prove(commit: string): Promise<void> {
  await fleet.pipeline();
  await fleet.sync('one');
  await fleet.allProven(commit);
}
