/** S24: a rollback to a kept revision, with a real hub, real clusters, and a git server that does not answer. */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import { createRevisionKey } from '../../../src/cli/local/revision-key.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { Sync } from '../../../src/sync/sync.ts';
import { type GitHttpServer, startGitHttpServer } from '../../support/git-server/http-server.ts';
import { tempFolder } from '../../support/temp.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const EXTRA = 'clusters/prod/web/extra.yaml';
/** More than the default budget of 10. */
const MANY = 12;
const clock = createSystemClock();

let fleet: TestFleet;
let git: GitHttpServer;
let folder: string;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(async () => {
  await fleet.reset();
  await createRevisionKey(fleet.hub.client, randomBytes);
  const { bare } = fleet.repository();
  git = await startGitHttpServer({ root: dirname(bare) });
  onTestFinished(() => git.close());
  await fleet.pipeline(`${git.url}/fleet.git`);
  folder = tempFolder('revisions');
});
afterAll(() => fleet.stop());

function startSync(identity: string, mayHold?: (lease: string) => boolean): Promise<Sync> {
  const keptRevisions = { folder: `${folder}/${mayHold ? identity : 'one'}`, randomBytes };
  return fleet.sync(identity, mayHold, { keptRevisions });
}

function stopGit(): void {
  git.fail('refs', { do: 'reset' });
  git.fail('pack', { do: 'reset' });
}

async function command(...args: readonly string[]): Promise<TestIo & { readonly code: number }> {
  const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig }, clock });
  const code = await runCommandLine(io, ['rollback', ...args]);
  return Object.assign(io, { code });
}

async function rollBack(commit: string): Promise<void> {
  const { code, stderr } = await command('prod', '--to', commit.slice(0, 12), '--reason', 'ticket 7');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

async function keptCommits(): Promise<unknown> {
  return (await fleet.state('prod')).revisions?.map(({ commit }) => commit);
}

async function kept(...commits: readonly string[]): Promise<void> {
  await expect.poll(keptCommits).toEqual(commits);
}

const HELD = { state: 'Held', message: expect.stringContaining('by kubernetes-admin') as unknown };

describe('kubenode rollback', () => {
  it('S24 returns a cluster within 30 s by a new process without git, keeps it there, and follows git when it caught up', async () => {
    const first = await startSync('one');
    const good = fleet.commit('1', 'good');
    await fleet.allProven(good);
    const bad = fleet.commit('2', 'bad');
    await fleet.allProven(bad);
    await kept(bad, good);
    stopGit();
    await first.close();

    const startedMs = clock.monotonicMs();
    await rollBack(good);
    await startSync('two');
    await expect.poll(() => fleet.versions()).toEqual(['2', '1']);
    expect(clock.monotonicMs() - startedMs).toBeLessThan(30_000);
    await expect.poll(() => fleet.state('prod')).toMatchObject({ ...HELD, commit: good });
    await expect
      .poll(() => fleet.condition('prod', 'Stalled'))
      .toMatchObject({ status: 'True', reason: 'RolledBack' });

    git.heal();
    const other = fleet.commit('3', 'not that content');
    await expect.poll(() => fleet.stageOf(other, 'prod')).toMatchObject({ state: 'Failed' });
    expect(await fleet.versions()).toEqual(['3', '1']);
    const revert = fleet.commit('1', 'revert');
    await fleet.allProven(revert);
    expect((await fleet.state('prod')).rollbackEnd).toMatchObject({ commit: revert });
    const next = fleet.commit('4', 'next');
    await fleet.allProven(next);
    expect(await fleet.versions()).toEqual(['4', '4']);
  });

  it('S24 holds deletes beyond the budget in a rollback, and follows the stage again when a person ends it', async () => {
    await startSync('one');
    const good = fleet.commit('1', 'good');
    await fleet.allProven(good);
    const extras = Array.from(
      { length: MANY },
      (_, at) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra-${at}, namespace: default}\n`,
    );
    const bad = fleet.commitFiles('many', { [EXTRA]: extras.join('---\n') });
    await fleet.allProven(bad);
    await kept(bad, good);
    stopGit();

    const unknown = await command('prod', '--to', '0123456789ab', '--reason', 'ticket 7');
    expect(unknown.stderr).toContain(`use one of: ${bad.slice(0, 12)}, ${good.slice(0, 12)}`);
    await rollBack(good);
    const held = expect.stringContaining(`${MANY} of ${MANY + 1} objects`) as unknown;
    await expect.poll(() => fleet.state('prod')).toMatchObject({ state: 'Held', message: held });
    const { items } = await fleet.clusters.prod.client.list(CONFIG_MAPS, { namespace: 'default' });
    expect(items.filter(({ metadata }) => metadata.name.startsWith('extra-'))).toHaveLength(MANY);

    git.heal();
    expect((await command('prod', '--end')).stdout).toContain('it follows its stage again');
    await fleet.allProven(bad);
    expect(await fleet.hub.client.get(CLUSTERS, { name: 'prod' })).not.toHaveProperty('spec.rollback');
  });

  it('S24 is carried out by the process that holds the Lease of the cluster while another one promotes it', async () => {
    await startSync('one', (lease) => lease !== 'cluster-prod');
    await startSync('two', (lease) => lease === 'cluster-prod');
    const good = fleet.commit('1', 'good');
    await fleet.allProven(good);
    const bad = fleet.commit('2', 'bad');
    await fleet.allProven(bad);
    await kept(bad, good);
    stopGit();
    await rollBack(good);
    await expect.poll(() => fleet.versions()).toEqual(['2', '1']);
    await expect.poll(() => fleet.state('prod')).toMatchObject({ ...HELD, commit: good });
  });
});
