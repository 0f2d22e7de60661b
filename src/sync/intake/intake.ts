/**
 * Receives the webhooks of git hosts. A webhook is believed in one thing only: that it is worth to read the repository now. What is
 * there, sync reads from the repository itself, so a forged, repeated or dropped webhook changes nothing but the time of a poll.
 */
import { createHash } from 'node:crypto';
import type { Pipeline } from '../../api/generated/types.ts';
import { SecretError } from '../../api/secrets/read.ts';
import type { Store } from '../../kube/cache/store.ts';
import type { Log } from '../../kube/process/log.ts';
import {
  NOT_POST,
  notFoundAnswer,
  tooLargeAnswer,
  unauthorizedAnswer,
  unavailableAnswer,
} from '../../kube/webhook/answers.ts';
import type { HookAnswer, HookIntake, HookRequest } from '../../kube/webhook/request.ts';
import { createRequestLimit } from '../../kube/webhook/request-limit.ts';
import { isSigned, signatureScheme } from '../../kube/webhook/signature.ts';
import type { Clock } from '../../os/clock.ts';
import { ignoredPushReason } from './push.ts';
import { createRecentKeys } from './recent-keys.ts';
import { readHookSecrets } from './secrets.ts';

export interface HookIntakeOptions {
  readonly pipelines: Pick<Store<Pipeline>, 'get'>;
  readonly secrets: Pick<Store, 'get'>;
  /** Makes the process that holds the Lease of the Pipeline read its repository. */
  readonly requestPoll: (pipeline: string) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * To verify a body of the largest size takes about a millisecond: with these limits forged requests cost less than a tenth of a core.
 * A git host sends a request for each push.
 */
const VERIFIED = { perSecond: 50, burst: 100 };
const PATH = /^\/hooks\/(?<pipeline>[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)$/;

export function createHookIntake(options: HookIntakeOptions): HookIntake {
  const { clock } = options;
  const limit = createRequestLimit(VERIFIED, clock);
  const repeated = createRecentKeys();
  return { handle };

  async function handle(request: HookRequest): Promise<HookAnswer> {
    const pipeline = options.pipelines.get(pipelineName(request.path));
    if (!pipeline?.spec.source.webhookSecretRef) return UNKNOWN;
    if (request.method !== 'POST') return NOT_POST;
    if (signatureScheme(request.headers) === undefined) return UNSIGNED;
    return limit() ?? (await receive(pipeline, request));
  }

  async function receive(pipeline: Pipeline, request: HookRequest): Promise<HookAnswer> {
    const { headers } = request;
    const secrets = usableSecrets(pipeline, options);
    if (!secrets) return UNAVAILABLE;
    const body = await request.readBody();
    if (!body) return TOO_LARGE;
    if (!isSigned({ headers, body }, secrets, clock.now())) return WRONG_SIGNATURE;
    const { ref, planComments } = pipeline.spec.source;
    const because = ignoredPushReason(headers, body, { ref, pulls: planComments !== undefined });
    if (because !== undefined) return { status: 202, text: `ignored: ${because}`, result: 'Ignored' };
    return await accept(pipeline.metadata.name, body);
  }

  async function accept(name: string, body: Buffer): Promise<HookAnswer> {
    const key = createHash('sha256').update(`${name}\n`).update(body).digest('base64');
    if (!repeated.add(key, clock.monotonicMs())) return REPEATED;
    try {
      await options.requestPoll(name);
      return ACCEPTED;
    } catch (error) {
      // A git host that delivers it again is not told that it was received already.
      repeated.remove(key);
      options.log.warn('webhook not recorded', { pipeline: name, error });
      return NOT_RECORDED;
    }
  }
}

/** Returns the name in the path; a path of another form has the name of no Pipeline. */
function pipelineName(path: string): string {
  return PATH.exec(path)?.groups?.['pipeline'] ?? '';
}

/** The condition WebhookReady of the Pipeline names the reason. */
function usableSecrets(pipeline: Pipeline, { secrets }: HookIntakeOptions): readonly string[] | undefined {
  try {
    return readHookSecrets(pipeline, secrets);
  } catch (error) {
    if (error instanceof SecretError) return undefined;
    throw error;
  }
}

const ACCEPTED: HookAnswer = { status: 202, text: 'the repository is read now', result: 'Accepted' };
const REPEATED: HookAnswer = { status: 202, text: 'received before: nothing to do', result: 'Repeated' };
const UNKNOWN = notFoundAnswer('/hooks/<pipeline> of a Pipeline with spec.source.webhookSecretRef');
const UNSIGNED = unauthorizedAnswer(
  'the request has no signature: set the secret of the webhook at the git host',
);
const WRONG_SIGNATURE = unauthorizedAnswer(
  'the signature does not match: compare the secret at the git host with the Secret of the Pipeline',
);
const TOO_LARGE = tooLargeAnswer('1 MiB');
const UNAVAILABLE = unavailableAnswer(
  'the Secret of the webhook cannot be used: see the condition WebhookReady of the Pipeline',
);
const NOT_RECORDED = unavailableAnswer(
  'the hub does not answer: deliver it again later, or wait for the next poll',
);
