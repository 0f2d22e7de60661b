/** A webhook makes sync read the repository at once. It tells nothing else: a request without the right signature changes nothing. */
import { createHmac, randomBytes } from 'node:crypto';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../api/names.ts';
import { CliError } from '../../../cli/errors.ts';
import { webhookPortOf } from '../../../cli/local/demo-programs.ts';
import { SECRETS } from '../../../kube/objects/core-kinds.ts';
import { messageOf } from '../../../os/errors.ts';
import { provenEverywhere, readPipeline } from '../fleet-state.ts';
import { notAcceptedReason } from '../observed.ts';
import { declareWebhook, PIPELINE_FILE } from '../pipeline-edits.ts';
import type { Tour, TourStep } from '../step.ts';
import { editLinger, POLICY_FILE } from './freeze.ts';

/** Long before the next poll, which is after five minutes. A busy machine needs more than 20 s to render and judge what it read. */
const HOOK_SECONDS = 120;

export const pushHookStep: TourStep = {
  name: 'push-hook',
  title: 'A push is read at once, by the webhook of the git host',
  explanation: [
    'sync reads the repository only every five minutes now. The webhook of a push makes it read at once.',
    'A webhook that is not signed with the secret is refused. What is in the repository, sync reads there.',
  ],
  async run(tour) {
    const hook = await createHook(tour);
    try {
      await showHook(tour, hook);
    } finally {
      await deleteHook(tour, hook);
    }
  },
};

async function showHook(tour: Tour, hook: TourHook): Promise<void> {
  const { repository } = tour;
  tour.say(`${PIPELINE_FILE}: pollSeconds: 300, and webhookSecretRef names Secret ${hook.secret}`);
  await repository.edit(PIPELINE_FILE, (text) => declareWebhook(text, hook.secret));
  tour.say('$ git commit -am "Receive webhooks"');
  const commits = [await repository.commit('Receive webhooks')];
  try {
    await tour.verify(provenEverywhere(tour, commits[0] ?? ''));
    await repository.edit(POLICY_FILE, editLinger);
    tour.say('$ git commit -am "Let grants linger"');
    commits.unshift(await repository.commit('Let grants linger'));
    await expectRefused(tour, hook);
    await push(tour, hook);
  } finally {
    for (const commit of commits) await repository.revert(commit);
  }
  tour.say('$ git revert --no-edit HEAD^..HEAD');
  await push(tour, hook);
  await tour.verify(provenEverywhere(tour, await repository.head()));
}

interface TourHook {
  readonly url: string;
  /** The name of the Secret, and what is in it. */
  readonly secret: string;
  readonly uid: string;
  readonly key: string;
}

/** Each run has a Secret of its own: one that a killed tour left behind does not matter. */
async function createHook(tour: Tour): Promise<TourHook> {
  const port = webhookPortOf(await tour.programs());
  const pipeline = await readPipeline(tour);
  if (port === undefined || !pipeline) {
    throw new CliError('sync of this fleet receives no webhooks', {
      hint: 'end the demo with Ctrl-C, and start it again with: kubenode start --demo FOLDER',
    });
  }
  const [secret, key] = [`webhook-${randomBytes(4).toString('hex')}`, randomBytes(24).toString('hex')];
  const created = await (await tour.client('hub')).create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secret, namespace: NAMESPACE, annotations: { [ANNOTATION_SECRET_USE]: 'git-webhook' } },
    stringData: { secret: key },
  });
  return {
    url: `http://127.0.0.1:${port}/hooks/${pipeline.metadata.name}`,
    secret,
    uid: created.metadata.uid ?? '',
    key,
  };
}

async function deleteHook(tour: Tour, { secret, uid }: TourHook): Promise<void> {
  const client = await tour.client('hub');
  await client.delete(SECRETS, { name: secret, namespace: NAMESPACE }, { uid });
}

async function expectRefused(tour: Tour, hook: TourHook): Promise<void> {
  const status = await send(tour, hook, 'another secret');
  await tour.verify({
    what: 'a webhook that is signed with another secret is refused',
    withinSeconds: 0,
    lookAt: 'kubenode status',
    reason: () => Promise.resolve(status === 401 ? undefined : `sync answered ${status}, expected 401`),
  });
}

async function push(tour: Tour, hook: TourHook): Promise<void> {
  const head = await tour.repository.head();
  const status = await send(tour, hook, hook.key);
  await tour.verify({
    what: 'sync has read the push',
    withinSeconds: HOOK_SECONDS,
    mostSeconds: 2 * HOOK_SECONDS,
    lookAt: 'kubenode status',
    reason: async () =>
      status === 202 ? notAcceptedReason(await readPipeline(tour), head) : `sync answered ${status}`,
  });
}

/** Sends what a git host sends after a push. Resolves to the status of the answer. */
async function send(tour: Tour, { url }: TourHook, key: string): Promise<number> {
  const body = JSON.stringify({ ref: 'refs/heads/main', after: await tour.repository.head() });
  const signature = createHmac('sha256', key).update(body).digest('hex');
  tour.say(`$ curl -X POST ${url} -H 'X-Hub-Signature-256: sha256=…'`);
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
  try {
    return (await fetch(url, { method: 'POST', body, headers })).status;
  } catch (cause) {
    throw new CliError(`sync does not answer the webhook: ${messageOf(cause)}`, {
      where: url,
      hint: 'see the log of the terminal that runs kubenode start: it starts sync again',
      cause,
    });
  }
}
