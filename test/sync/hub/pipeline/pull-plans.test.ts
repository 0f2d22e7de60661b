import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { createPullPlans } from '../../../../src/sync/hub/pipeline/pull-plans.ts';
import type { CommitPlanQuestion } from '../../../../src/sync/pulls/head-plan.ts';
import { createFleetRepository } from '../../../support/fleet-repository.ts';
import { testHostTokens } from '../../../support/git-host/host-tokens.ts';
import { judgedRenderer } from '../../../support/judged-renderer.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { secretStore } from '../../../support/secret-store.ts';
import { tempFolder } from '../../../support/temp.ts';

const NEVER = new AbortController().signal;

function createBed() {
  const repository = createFleetRepository();
  const gitFolder = tempFolder('git');
  const displays: string[] = [];
  const planned: CommitPlanQuestion[] = [];
  const options = {
    secrets: secretStore(),
    gitFolder,
    renderer: judgedRenderer(async ({ git, commit }) => {
      displays.push(git.display);
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
      const units = [{ unit: 'web', objects: [{ object, source: {} }], digest: commit }];
      return { rendered: { commit, targets: [{ target: 'test', units, digest: commit }] }, warnings: [] };
    }),
    clock: createSystemClock(),
    log: memoryLog(),
    tokens: testHostTokens(),
  };
  const source = {
    repository: `file://${repository.bare}`,
    ref: 'refs/heads/main',
    path: '.',
    pollSeconds: 1,
  };
  const pipeline = { metadata: { name: 'fleet' }, spec: { source } } as unknown as Pipeline;
  const plans = createPullPlans(pipeline, {
    ...options,
    async planCommit(question) {
      planned.push(question);
      return { notes: [], preview: { from: '', to: '', targets: [], refusals: [], digest: 'd' } };
    },
  });
  onTestFinished(() => plans.close());
  return {
    repository,
    gitFolder,
    displays,
    planned,
    plans,
    without: () => createPullPlans(pipeline, options),
  };
}

it('S22 fetches a pull request into a cache of its own, and renders it in a queue of its own', async () => {
  const { repository, gitFolder, displays, planned, plans } = createBed();
  const base = repository.commit('first', { a: '1' });
  const head = repository.commit('second', { a: '2' });
  repository.push('origin', 'HEAD:refs/pull/7/head');
  repository.push('--force', 'origin', `${base}:refs/heads/main`);
  expect(existsSync(join(gitFolder, 'pulls'))).toBe(false);
  const plan = await plans.planPull({ number: 7, head, base, type: 'Gitea' }, NEVER);
  expect(plan).toMatchObject({ outcome: 'Planned', isBehind: false });
  expect(planned).toMatchObject([{ from: { commit: base }, to: { commit: head } }]);
  expect(new Set(displays)).toEqual(new Set([`file://${repository.bare} (pull requests)`]));
  expect(existsSync(join(gitFolder, 'pulls'))).toBe(true);
});

it('S22 knows that a branch lacks what was merged since', async () => {
  const { repository, plans } = createBed();
  repository.commit('first', { a: '1' });
  const head = repository.commit('second', { a: '2' });
  repository.push('origin', 'HEAD:refs/pull/7/head');
  repository.git('reset', '--hard', 'HEAD^');
  const base = repository.commit('third', { b: '1' });
  expect(await plans.planPull({ number: 7, head, base, type: 'GitHub' }, NEVER)).toMatchObject({
    isBehind: true,
  });
});

it('S22 plans nothing in a process that cannot, and tells so', async () => {
  const { without } = createBed();
  const question = { number: 7, head: 'a', base: 'b', type: 'GitHub' } as const;
  await expect(without().planPull(question, NEVER)).rejects.toThrow(
    'this process plans no commits: run kubenode sync',
  );
});
