/** S25: webhooks with a real hub, two replicas of sync that would poll an hour later, and the server of the program. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../src/api/names.ts';
import { serveWebhooks } from '../../../src/cli/commands/sync/webhooks.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { createMetrics, type Metrics } from '../../../src/kube/process/metrics.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { Sync } from '../../../src/sync/sync.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const SECRET = 'the secret of the webhook';
const clock = createSystemClock();

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

async function pipelineWithHook(): Promise<void> {
  await fleet.pipeline();
  const source = { pollSeconds: 3600, webhookSecretRef: { name: 'hook' } };
  const body = { spec: { source } };
  await fleet.hub.client.patch(
    PIPELINES,
    { name: 'fleet' },
    { type: 'merge', body },
    { fieldManager: 'anna' },
  );
}

async function createSecret(value: string): Promise<void> {
  await fleet.hub.client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'hook', namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: 'git-webhook' } },
    stringData: { secret: value },
  });
}

interface Receiver {
  readonly metrics: Metrics;
  push(ref: string, secret?: string): Promise<number>;
}

async function receiver({ hub }: Sync): Promise<Receiver> {
  const metrics = createMetrics();
  const log = memoryLog();
  const server = await serveWebhooks({ webhookPort: 0, webhookHost: '127.0.0.1' }, hub, {
    metrics,
    clock,
    log,
  });
  if (!server) throw new Error('no webhook server');
  onTestFinished(() => server.close());
  let deliveries = 0;
  return {
    metrics,
    async push(ref, secret = SECRET) {
      const body = JSON.stringify({ ref, delivery: (deliveries += 1) });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      const headers = { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push' };
      const answer = await fetch(`${server.url}/hooks/fleet`, { method: 'POST', body, headers });
      await answer.arrayBuffer();
      return answer.status;
    },
  };
}

async function webhookCondition(): Promise<string> {
  const { status } = await fleet.hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' });
  const found = status?.conditions.find(({ type }) => type === 'WebhookReady');
  return found ? `${found.status} ${found.reason}` : 'none';
}

describe('S25 a signed webhook of the git host', () => {
  it('brings a push to the clusters at once, whichever replica receives it', async () => {
    await createSecret(SECRET);
    const first = fleet.commit('1', 'first');
    await pipelineWithHook();
    const leader = await fleet.sync('one');
    await fleet.allProven(first);
    const standby = await fleet.sync('two', () => false);
    const [atLeader, atStandby] = [await receiver(leader), await receiver(standby)];

    const second = fleet.commit('2', 'second');
    expect(await atStandby.push('refs/heads/main')).toBe(202);
    await fleet.allProven(second);

    const third = fleet.commit('3', 'third');
    expect(await atLeader.push('refs/heads/main', 'a secret of another webhook')).toBe(401);
    expect(await atLeader.push('refs/heads/other')).toBe(202);
    expect((await fleet.head()).commit).toBe(second);
    expect(await atLeader.push('refs/heads/main')).toBe(202);
    await fleet.allProven(third);
    const text = await atLeader.metrics.text();
    for (const result of ['Accepted', 'Ignored', 'Refused']) {
      expect(text).toContain(`sync_webhook_requests_total{result="${result}"} 1`);
    }
  });

  it('is reported as not received until its Secret is there, and not at all without it', async () => {
    fleet.commit('1', 'first');
    await pipelineWithHook();
    await fleet.sync('one');
    await expect.poll(webhookCondition).toBe('False SecretInvalid');
    await createSecret(SECRET);
    // The sync of this test has no webhook port.
    await expect.poll(webhookCondition).toBe('False NotServed');
    const body = { spec: { source: { webhookSecretRef: null } } };
    await fleet.hub.client.patch(
      PIPELINES,
      { name: 'fleet' },
      { type: 'merge', body },
      { fieldManager: 'anna' },
    );
    await expect.poll(webhookCondition).toBe('none');
  });
});
