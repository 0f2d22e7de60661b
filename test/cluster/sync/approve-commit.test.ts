/** `kubenode release approve --commit`: from a stage that waits to the signed commit that opens it, with a running sync and real API servers. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { PIPELINES, RELEASES } from '../../../src/api/generated/resources.ts';
import type { Release } from '../../../src/api/generated/types.ts';
import { MANAGER_SYNC } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createSshSigner, type TestSigner } from '../../support/git-server/signer.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const [ann, bob] = [createSshSigner('ann'), createSshSigner('bob')];

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

/** Git in the repository signs every commit with the key of this person. */
function signAs({ keyFile }: TestSigner): void {
  const settings = { 'gpg.format': 'ssh', 'user.signingkey': keyFile, 'commit.gpgsign': 'true' };
  for (const [key, value] of Object.entries(settings)) fleet.repository().git('config', key, value);
}

async function approve(
  name: string,
  release: string,
  ...flags: string[]
): Promise<TestIo & { code: number }> {
  const mail = `${name.toLowerCase()}@example.com`;
  const author = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: mail };
  const names = { ...author, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: mail };
  const io = testIo({ env: { ...process.env, ...names, KUBECONFIG: fleet.hub.kubeconfig } });
  const args = ['release', 'approve', release, 'prod', '--reason', 'reviewed', '--commit', ...flags];
  const code = await runCommandLine(io, [...args, '--repo', fleet.repository().dir]);
  return Object.assign(io, { code });
}

function stages(prod: object): object[] {
  return ['test', 'prod'].map((name) => ({
    name,
    clusterSelector: { matchLabels: { 'kubenode.dev/environment': name } },
    soakSeconds: 2,
    ...(name === 'prod' ? prod : {}),
  }));
}

function pipelineYaml(prod: object, source: object): string {
  const { bare } = fleet.repository();
  const { group, version, kind } = PIPELINES;
  const from = { repository: `file://${bare}`, ref: 'refs/heads/main', pollSeconds: 1, ...source };
  const spec = { source: from, stages: stages(prod) };
  return stringify({ apiVersion: `${group}/${version}`, kind, metadata: { name: 'fleet' }, spec });
}

async function releaseOf(commit: string): Promise<string> {
  const { items } = await fleet.hub.client.list<Release>(RELEASES);
  return items.find(({ spec }) => spec.commit === commit)?.metadata.name ?? '';
}

it('S36 opens a stage by the approval that another person commits, signs and pushes', async () => {
  signAs(ann);
  const repository = fleet.repository();
  fleet.commit('1', 'first');
  // A Pipeline is judged by its own first commit, so the gate comes with the second.
  const first = fleet.commitFiles('declare', {
    'keys/signers': ann.entry + bob.entry,
    'hub/pipeline.yaml': pipelineYaml({}, {}),
  });
  // As `kubenode sync --from` creates the Pipeline.
  const created = parse(pipelineYaml({}, {})) as Parameters<typeof fleet.hub.client.apply>[1];
  await fleet.hub.client.apply(PIPELINES, created, { fieldManager: MANAGER_SYNC });
  await fleet.sync('one');
  await fleet.allProven(first);
  const signers = [{ name: 'people', keysPath: 'keys/signers' }];
  const guard = pipelineYaml(
    { approval: 'Required', approvalByOther: true },
    { signatures: 'Range', signers },
  );
  await fleet.allProven(fleet.commitFiles('guard prod', { 'hub/pipeline.yaml': guard }));
  const change = fleet.commit('2', 'change');
  await expect
    .poll(async () => (await fleet.stageOf(change, 'prod')).waiting?.reason)
    .toBe('ApprovalRequired');

  const release = await releaseOf(change);
  const own = await approve('Ann', release);
  expect([own.code, own.stderr]).toEqual([65, expect.stringContaining('the approval would not count: ann')]);
  expect(repository.git('rev-parse', 'HEAD')).toBe(change);

  signAs(bob);
  repository.git('branch', '--quiet', '--set-upstream-to', 'origin/main');
  const done = await approve('Bob', release, '--push', '-o', 'json');
  expect([done.code, JSON.parse(done.stdout)]).toMatchObject([
    0,
    {
      outcome: 'Committed',
      pushed: true,
      repository: repository.dir,
      path: 'hub/pipeline.yaml',
      next: 'kubenode sync now',
    },
  ]);
  await fleet.allProven(repository.git('rev-parse', 'origin/main'));
  expect(await fleet.versions()).toEqual(['2', '2']);
  const shown = testIo({ env: { ...process.env, KUBECONFIG: fleet.hub.kubeconfig } });
  expect([await runCommandLine(shown, ['release', 'show', release]), shown.stderr]).toEqual([0, '']);
  expect(shown.stdout).toMatch(
    /\n {2}signed by ann\S*\n {2}approved for prod by bob\S* \(commit [0-9a-f]{12}\): reviewed\n/,
  );
  const late = await approve('Bob', release);
  expect([late.code, late.stderr]).toEqual([65, expect.stringContaining('the approval cannot be declared')]);
});
