/** S22: a real git host gets the plan of a pull request as a comment, from the connections that sync has to the clusters. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../src/api/names.ts';
import { serveWebhooks } from '../../../src/cli/commands/sync/webhooks.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { Sync } from '../../../src/sync/sync.ts';
import { noGiteaReason } from '../../support/gitea/program.ts';
import { GITEA_USER, type Gitea, startGitea } from '../../support/gitea/server.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const noGitea = await noGiteaReason();
const HOOK_SECRET = 'the secret of the webhook';
const CANARY = 'canary-value-of-a-secret';
const REPOSITORY = `/repos/${GITEA_USER}/fleet`;

interface Comment {
  readonly id: number;
  readonly body: string;
}

describe.skipIf(noGitea !== undefined)(
  `pull requests in Gitea${noGitea === undefined ? '' : `: ${noGitea}`}`,
  () => {
    let fleet: TestFleet;
    let gitea: Gitea;
    beforeAll(async () => {
      [fleet, gitea] = await Promise.all([startTestFleet(), startGitea(tempFolder('gitea'))]);
      await fleet.reset();
      await gitea.api('POST', '/user/repos', { name: 'fleet' });
    });
    afterAll(async () => {
      await gitea[Symbol.asyncDispose]();
      await fleet.stop();
    });

    function push(branch: string): void {
      fleet.repository().git('push', '--quiet', gitea.pushUrl('fleet'), `HEAD:refs/heads/${branch}`);
    }

    async function createSecret(name: string, use: string, stringData: object): Promise<void> {
      const metadata = { name, namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: use } };
      await fleet.hub.client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, stringData });
    }

    async function setUp(): Promise<void> {
      await createSecret('hook', 'git-webhook', { secret: HOOK_SECRET });
      const token = await gitea.createToken('plans');
      await createSecret('status', `git-status; ${new URL(gitea.url).host}`, { token });
      await fleet.pipeline();
      const source = {
        repository: `${gitea.url}/${GITEA_USER}/fleet.git`,
        pollSeconds: 3600,
        webhookSecretRef: { name: 'hook' },
        statusCredentialsRef: { name: 'status' },
        gitHost: { type: 'Gitea', url: gitea.url },
        planComments: {},
      };
      const patch = { type: 'merge', body: { spec: { source } } } as const;
      await fleet.hub.client.patch(PIPELINES, { name: 'fleet' }, patch, { fieldManager: 'anna' });
    }

    async function hook(sync: Sync): Promise<void> {
      const ports = { metrics: createMetrics(), clock: createSystemClock(), log: memoryLog() };
      const server = await serveWebhooks({ webhookPort: 0, webhookHost: '127.0.0.1' }, sync.hub, ports);
      if (!server) throw new Error('no webhook server');
      onTestFinished(() => server.close());
      const config = { url: `${server.url}/hooks/fleet`, content_type: 'json', secret: HOOK_SECRET };
      const events = ['push', 'pull_request', 'pull_request_sync'];
      await gitea.api('POST', `${REPOSITORY}/hooks`, { type: 'gitea', active: true, events, config });
    }

    async function pipeline(): Promise<Pipeline> {
      return await fleet.hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' });
    }

    async function plannedPulls(): Promise<readonly unknown[]> {
      return (await pipeline()).status?.planComments?.pullRequests ?? [];
    }

    const comments = (): Promise<readonly Comment[]> => gitea.api('GET', `${REPOSITORY}/issues/1/comments`);

    async function statusOf(commit: string, context: string): Promise<unknown> {
      const all = await gitea.api<{ context: string }[] | null>(
        'GET',
        `${REPOSITORY}/commits/${commit}/statuses?sort=recentupdate`,
      );
      return all?.find((each) => each.context === context);
    }

    async function onlyComment(): Promise<Comment> {
      const [only, ...others] = await comments();
      if (!only || others.length > 0) throw new Error(`expected one comment, got ${others.length + 1}`);
      return only;
    }

    async function digestInComment(): Promise<string | undefined> {
      return /plan `(?<digest>sha256:[0-9a-f]+)`/.exec((await onlyComment()).body)?.groups?.['digest'];
    }

    it('S22 shows the plan of a pull request as one comment, which each push replaces, and which comes true', async () => {
      const first = fleet.commit('1', 'first');
      push('main');
      await setUp();
      const sync = await fleet.sync('one');
      await hook(sync);
      await fleet.allProven(first);

      const second = fleet.commit('2', 'second');
      push('change');
      const pull = { title: 'second', head: 'change', base: 'main' };
      await gitea.api('POST', `${REPOSITORY}/pulls`, pull);
      await expect.poll(comments).toHaveLength(1);
      const before = await onlyComment();
      expect(before.body).toContain(`\`${first}\` → \`${second}\``);
      expect(before.body).toContain('| test | 1 update, checked in the cluster |');
      expect(before.body).toMatch(/version: "?1"? → "?2"?/);
      const plan = 'kubenode/fleet/plan';
      await expect
        .poll(() => statusOf(second, plan))
        .toMatchObject({ status: 'success', description: '2 of 3 targets change; 2 update' });
      // Nothing of it is applied, and the branch has no status as a commit of main has.
      expect(await fleet.versions()).toEqual(['1', '1']);
      expect(await statusOf(second, 'kubenode/fleet')).toBeUndefined();

      const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: pass, namespace: default}\nstringData: {password: ${CANARY}}\n`;
      const third = fleet.commitFiles('third', { 'clusters/prod/web/secret.yaml': secret });
      push('change');
      await expect.poll(async () => (await onlyComment()).body).toContain(`→ \`${third}\``);
      const after = await onlyComment();
      expect(after.id).toBe(before.id);
      expect(after.body).toContain('+ create  Secret default/pass');
      // Sync may not read Secrets there, and the comment does not name the server.
      expect(after.body).toContain('may not read or write there what the commit needs');
      expect(after.body).not.toContain('127.0.0.1');
      await expect.poll(() => statusOf(third, plan)).toMatchObject({ status: 'success' });
      for (const shown of [await comments(), await pipeline(), fleet.log().lines]) {
        expect(JSON.stringify(shown)).not.toContain(CANARY);
      }

      const files = { 'hub/clusters.yaml': 'kind: [', 'clusters/prod/web/secret.yaml': undefined };
      const broken = fleet.commitFiles('broken', files);
      push('change');
      await expect
        .poll(() => statusOf(broken, plan))
        .toMatchObject({ status: 'failure', description: expect.stringContaining('REFUSED') as unknown });
      const fixed = fleet.commit('2', 'fixed');
      push('change');
      await expect.poll(() => statusOf(fixed, plan)).toMatchObject({ status: 'success' });
      const digest = await digestInComment();

      await gitea.api('POST', `${REPOSITORY}/pulls/1/merge`, { Do: 'merge' });
      fleet.repository().git('fetch', '--quiet', gitea.pushUrl('fleet'), 'main');
      fleet.repository().git('reset', '--hard', 'FETCH_HEAD');
      const merged = fleet.repository().head();
      await fleet.allProven(merged);
      expect(await fleet.versions()).toEqual(['2', '2']);
      expect((await fleet.planOf(merged)).digest).toBe(digest);
      await expect.poll(plannedPulls).toEqual([]);

      fleet.repository().git('revert', '--no-edit', '-m', '1', 'HEAD');
      push('main');
      await fleet.allProven(fleet.repository().head());
      expect(await fleet.versions()).toEqual(['1', '1']);
    });
  },
);
