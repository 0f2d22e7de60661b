/** S25, S26: a push to a real git host comes back to it as commit statuses. */
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
import { run } from '../../support/node-kit/shell.ts';
import { tempFolder } from '../../support/temp.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const noGitea = await noGiteaReason();
const HOOK_SECRET = 'the secret of the webhook';

interface GiteaStatus {
  readonly id: number;
  readonly context: string;
  readonly status: string;
  readonly description: string;
  readonly target_url: string;
}

async function serveHooks({ hub }: Sync): Promise<string> {
  const ports = { metrics: createMetrics(), clock: createSystemClock(), log: memoryLog() };
  const server = await serveWebhooks({ webhookPort: 0, webhookHost: '127.0.0.1' }, hub, ports);
  if (!server) throw new Error('no webhook server');
  onTestFinished(() => server.close());
  return `${server.url}/hooks/fleet`;
}

describe.skipIf(noGitea !== undefined)(
  `a fleet in Gitea${noGitea === undefined ? '' : `: ${noGitea}`}`,
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

    async function push(): Promise<void> {
      const { bare } = fleet.repository();
      await run('git', ['-C', bare, 'push', '--quiet', gitea.pushUrl('fleet'), 'refs/heads/main']);
    }

    async function createSecret(
      name: string,
      use: string,
      value: Readonly<Record<string, string>>,
    ): Promise<void> {
      const metadata = { name, namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: use } };
      await fleet.hub.client.create(SECRETS, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        stringData: value,
      });
    }

    async function changeSource(source: object): Promise<void> {
      const body = { spec: { source } };
      await fleet.hub.client.patch(
        PIPELINES,
        { name: 'fleet' },
        { type: 'merge', body },
        { fieldManager: 'anna' },
      );
    }

    // The host orders by its seconds: of two statuses in the same second, the higher number is the newer one.
    async function statusOf(commit: string): Promise<Partial<GiteaStatus>> {
      const path = `/repos/${GITEA_USER}/fleet/commits/${commit}/statuses?limit=50`;
      const found = (await gitea.api<GiteaStatus[] | null>('GET', path)) ?? [];
      return found.toSorted((one, other) => other.id - one.id)[0] ?? {};
    }

    async function condition(): Promise<string> {
      const { status } = await fleet.hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' });
      const found = status?.conditions.find(({ type }) => type === 'CommitStatusReady');
      return found ? `${found.status} ${found.reason}` : 'none';
    }

    it('S26 shows at each commit how far it is, and S25 learns of a push by the webhook of the host', async () => {
      const { host } = new URL(gitea.url);
      await createSecret('hook', 'git-webhook', { secret: HOOK_SECRET });
      await createSecret('status', `git-status; ${host}`, { token: 'token-that-was-revoked' });
      const first = fleet.commit('1', 'first');
      await push();
      await fleet.pipeline();
      await changeSource({
        repository: `${gitea.url}/${GITEA_USER}/fleet.git`,
        pollSeconds: 3600,
        webhookSecretRef: { name: 'hook' },
        statusCredentialsRef: { name: 'status' },
        gitHost: { type: 'Gitea', url: gitea.url, link: 'https://console.example.com/' },
      });
      const sync = await fleet.sync('one');
      const url = await serveHooks(sync);
      await gitea.api('POST', `/repos/${GITEA_USER}/fleet/hooks`, {
        type: 'gitea',
        active: true,
        events: ['push'],
        config: { url, content_type: 'json', secret: HOOK_SECRET },
      });

      // A token that the host refuses: the fleet goes on, and the condition names the reason.
      await fleet.allProven(first);
      await expect.poll(condition).toBe('False TokenRefused');
      expect(await statusOf(first)).toEqual({});

      const token = await gitea.createToken('statuses');
      const body = { stringData: { token } };
      await fleet.hub.client.patch(
        SECRETS,
        { name: 'status', namespace: NAMESPACE },
        { type: 'merge', body },
        { fieldManager: 'anna' },
      );
      await expect
        .poll(() => statusOf(first))
        .toMatchObject({
          context: 'kubenode/fleet',
          status: 'success',
          description: 'proven in every stage: 2 of 2 clusters proven',
          target_url: 'https://console.example.com/',
        });
      await expect.poll(condition).toBe('True Accepted');

      const second = fleet.commit('2', 'second');
      await push();
      await fleet.allProven(second);
      await expect.poll(() => statusOf(second)).toMatchObject({ status: 'success' });

      const broken = fleet.commitFiles('broken', { 'hub/clusters.yaml': 'kind: [' });
      await push();
      await expect
        .poll(() => statusOf(broken))
        .toMatchObject({
          status: 'failure',
          description: expect.stringContaining('RenderFailed: ') as unknown,
        });
      expect(JSON.stringify(fleet.log().lines)).not.toContain(token);

      // Another process has the record: it sends nothing again.
      const sentAt = async (): Promise<unknown> =>
        (await fleet.hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' })).status?.commitStatuses;
      await expect
        .poll(sentAt)
        .toMatchObject({ commits: [{ commit: broken }, { commit: second }, { commit: first }] });
      const before = await sentAt();
      await sync.close();
      await fleet.sync('two');
      const third = fleet.commit('3', 'third');
      await push();
      await changeSource({ pollSeconds: 1 });
      await expect.poll(() => statusOf(third)).toMatchObject({ status: 'success' });
      expect(await sentAt()).toMatchObject({
        commits: [{ commit: third }, ...(before as { commits: object[] }).commits],
      });
    });
  },
);
