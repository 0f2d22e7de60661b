/** S35: a commit that fails is answered with its revert at a real git host. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Pipeline, PipelineRevert } from '../../../src/api/generated/types.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../src/api/names.ts';
import { serveWebhooks } from '../../../src/cli/commands/sync/webhooks.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { Sync } from '../../../src/sync/sync.ts';
import { noGiteaReason } from '../../support/gitea/program.ts';
import { GITEA_USER, type Gitea, startGitea } from '../../support/gitea/server.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const noGitea = await noGiteaReason();
const HOOK_SECRET = 'the secret of the webhook';
/** The API server refuses the misspelt field, which no check of sync knows. */
const BROKEN = 'clusters/test/web/more.yaml';
const BROKEN_OBJECT =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: default}\nmisspelt: {a: b}\n';

interface Pull {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly state: string;
  readonly head: { readonly ref: string; readonly sha: string };
}

describe.skipIf(noGitea !== undefined)(
  `automatic reverts in Gitea${noGitea === undefined ? '' : `: ${noGitea}`}`,
  () => {
    let fleet: TestFleet;
    let gitea: Gitea;
    let name: string;
    let count = 0;
    beforeAll(async () => {
      [fleet, gitea] = await Promise.all([startTestFleet(), startGitea(tempFolder('gitea'))]);
    });
    beforeEach(async () => {
      await fleet.reset();
      count += 1;
      name = `fleet-${count}`;
      await gitea.api('POST', '/user/repos', { name });
    });
    afterAll(async () => {
      await gitea[Symbol.asyncDispose]();
      await fleet.stop();
    });

    const git = (...args: string[]): string => fleet.repository().git(...args);
    const push = (): void => void git('push', '--quiet', gitea.pushUrl(name), 'HEAD:refs/heads/main');
    const pulls = (): Promise<readonly Pull[]> =>
      gitea.api('GET', `/repos/${GITEA_USER}/${name}/pulls?state=all`);

    async function createSecret(secret: string, use: string, stringData: object): Promise<void> {
      const metadata = { name: secret, namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: use } };
      await fleet.hub.client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, stringData });
    }

    async function setUp(onFailure: string): Promise<string> {
      const first = fleet.commit('1', 'first');
      push();
      await createSecret('hook', 'git-webhook', { secret: HOOK_SECRET });
      const token = await gitea.createToken(name);
      await createSecret('push', `git-push; ${new URL(gitea.url).host}`, { token });
      await fleet.pipeline();
      const source = {
        repository: `${gitea.url}/${GITEA_USER}/${name}.git`,
        pollSeconds: 3600,
        webhookSecretRef: { name: 'hook' },
        writeCredentialsRef: { name: 'push' },
        gitHost: { type: 'Gitea', url: gitea.url },
      };
      const patch = { type: 'merge', body: { spec: { source, onFailure } } } as const;
      await fleet.hub.client.patch(PIPELINES, { name: 'fleet' }, patch, { fieldManager: 'anna' });
      await hook(await fleet.sync('one'));
      await fleet.allProven(first);
      return first;
    }

    async function hook(sync: Sync): Promise<void> {
      const ports = { metrics: createMetrics(), clock: createSystemClock(), log: memoryLog() };
      const server = await serveWebhooks({ webhookPort: 0, webhookHost: '127.0.0.1' }, sync.hub, ports);
      if (!server) throw new Error('no webhook server');
      onTestFinished(() => server.close());
      const config = { url: `${server.url}/hooks/fleet`, content_type: 'json', secret: HOOK_SECRET };
      await gitea.api('POST', `/repos/${GITEA_USER}/${name}/hooks`, {
        type: 'gitea',
        active: true,
        events: ['push'],
        config,
      });
    }

    function breakFleet(): string {
      const failed = fleet.commitFiles('break the test stage', { [BROKEN]: BROKEN_OBJECT });
      push();
      return failed;
    }

    async function pipeline(): Promise<Pipeline> {
      return await fleet.hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' });
    }

    async function reverts(): Promise<readonly PipelineRevert[]> {
      return (await pipeline()).status?.reverts ?? [];
    }

    async function condition(): Promise<string> {
      const found = (await pipeline()).status?.conditions.find(({ type }) => type === 'RevertReady');
      return `${found?.status} ${found?.reason}`;
    }

    async function whyRelease(commit: string): Promise<string> {
      const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
      await runCommandLine(io, ['why', 'release', commit]);
      return (io.stdout + io.stderr).replaceAll(/\s+/g, ' ');
    }

    it('S35 proposes the revert of a failing commit, and the fleet is back once a person merges it', async () => {
      const first = await setUp('ProposeRevert');
      const failed = breakFleet();
      await expect.poll(pulls).toHaveLength(1);
      const [pull] = await pulls();
      expect(pull).toMatchObject({
        title: 'Revert "break the test stage" (failed in stage test)',
        body: expect.stringContaining('| test |') as unknown,
        state: 'open',
        head: { ref: `kubenode/revert/fleet/test/${failed.slice(0, 12)}` },
      });
      await expect.poll(reverts).toMatchObject([
        {
          commit: failed,
          proven: first,
          state: 'Proposed',
          pullRequest: pull?.number,
          revert: pull?.head.sha,
        },
      ]);
      await expect.poll(condition).toBe('True RevertProposed');
      const events = await fleet.hub.client.resourceFor('events.k8s.io/v1', 'Event');
      const { items } = await fleet.hub.client.list(events);
      expect(items).toContainEqual(expect.objectContaining({ reason: 'RevertProposed' }));
      const why = await whyRelease(failed.slice(0, 12));
      expect(why).toContain('RevertProposed: the failure budget of stage test is spent (test ');
      expect(why).toContain(`as pull request ${pull?.number} (${gitea.url}/`);
      expect(why).toContain('unblocks merge it, or push a commit that fixes stage test');

      await gitea.api('POST', `/repos/${GITEA_USER}/${name}/pulls/${pull?.number}/merge`, { Do: 'merge' });
      git('fetch', '--quiet', gitea.pushUrl(name), 'main');
      const merged = git('rev-parse', 'FETCH_HEAD');
      await fleet.allProven(merged);
      expect(git('diff', first, merged)).toBe('');
      expect(await whyRelease(failed)).toContain(
        `no action required: Release fleet-${merged.slice(0, 12)} has`,
      );
      await expect.poll(condition).toBe('True NoFailedStage');
      expect(await pulls()).toHaveLength(1);
    });

    it('S35 finds the pull request again after its branch was deleted', async () => {
      await setUp('ProposeRevert');
      const failed = breakFleet();
      await expect.poll(reverts).toMatchObject([{ state: 'Proposed' }]);
      const [record] = await reverts();
      const branch = `kubenode%2Frevert%2Ffleet%2Ftest%2F${failed.slice(0, 12)}`;
      await gitea.api('PATCH', `/repos/${GITEA_USER}/${name}/pulls/1`, { state: 'closed' });
      await gitea.api('DELETE', `/repos/${GITEA_USER}/${name}/branches/${branch}`);
      // As a process that was killed before it recorded the pull request.
      const planned = [{ ...record, state: 'Planned', pullRequest: null, url: null }];
      await fleet.hub.client.patch(
        PIPELINES,
        { name: 'fleet' },
        { type: 'merge', body: { status: { reverts: planned } } },
        { fieldManager: 'anna', subresource: 'status' },
      );
      await expect.poll(reverts).toMatchObject([{ state: 'Proposed', pullRequest: 1 }]);
      expect(await pulls()).toHaveLength(1);
      expect(git('ls-remote', gitea.pushUrl(name), `refs/heads/${record?.branch}`)).toBe('');
    });

    it('S35 pushes the revert, whose own webhook does not start another one', async () => {
      const first = await setUp('PushRevert');
      const failed = breakFleet();
      await expect.poll(reverts).toMatchObject([{ commit: failed, state: 'Pushed' }]);
      const [record] = await reverts();
      await fleet.allProven(record?.revert ?? '');
      git('fetch', '--quiet', gitea.pushUrl(name), 'main');
      expect(git('rev-parse', 'FETCH_HEAD')).toBe(record?.revert);
      expect(git('diff', first, 'FETCH_HEAD')).toBe('');
      expect([await pulls(), (await reverts()).length]).toEqual([[], 1]);
      for (const shown of [await pipeline(), fleet.log().lines]) {
        expect(JSON.stringify(shown)).not.toMatch(/token [0-9a-f]{40}|Basic /);
      }
    });
  },
);
