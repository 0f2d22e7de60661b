/**
 * Receives the events that hardware systems send by HTTP. A request is believed when it is signed in the form of Standard Webhooks, which
 * signs its time, too: a delivery that is repeated later is too old, and one that is repeated at once changes nothing.
 */
import type { Log } from '../../../kube/process/log.ts';
import {
  NOT_POST,
  notFoundAnswer,
  tooLargeAnswer,
  unauthorizedAnswer,
  unavailableAnswer,
} from '../../../kube/webhook/answers.ts';
import type { HookAnswer, HookIntake, HookRequest } from '../../../kube/webhook/request.ts';
import { createRequestLimit } from '../../../kube/webhook/request-limit.ts';
import { isSigned, signatureScheme, textOf } from '../../../kube/webhook/signature.ts';
import type { Clock } from '../../../os/clock.ts';
import type { HardwareReportOutcome, ReportRecorder } from '../report/execute.ts';
import { MAX_REPORT_BYTES, readReport } from '../report/parse.ts';
import type { ReadWebhookSecrets } from './secret.ts';

export interface MaintenanceIntakeOptions {
  readonly readSecrets: ReadWebhookSecrets;
  readonly recorder: ReportRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** The path of the requests. */
export const MAINTENANCE_PATH = '/maintenance';
/** To verify a body of the largest size takes less than a millisecond. */
const VERIFIED = { perSecond: 100, burst: 400 };
/** Each report reads three objects and writes one. A rack of machines is announced at once. */
const RECORDED = { perSecond: 20, burst: 200 };

export function createMaintenanceIntake(options: MaintenanceIntakeOptions): HookIntake {
  const { clock } = options;
  const verified = createRequestLimit(VERIFIED, clock);
  // Of its own, so that forged requests take no place from those that are signed.
  const recorded = createRequestLimit(RECORDED, clock);
  return {
    async handle(request) {
      if (request.path !== MAINTENANCE_PATH) return UNKNOWN;
      if (request.method !== 'POST') return NOT_POST;
      if (signatureScheme(request.headers) !== 'StandardWebhooks') return UNSIGNED;
      const limited = verified();
      if (limited) return limited;
      const body = await verifiedBody(request, options);
      if (!Buffer.isBuffer(body)) return body;
      return recorded() ?? (await receive(request, body, options));
    },
  };
}

/** Resolves to the body of a request that is signed, or to the answer to another one. */
async function verifiedBody(
  { headers, readBody }: HookRequest,
  { readSecrets, clock }: MaintenanceIntakeOptions,
): Promise<Buffer | HookAnswer> {
  const secrets = await readSecrets();
  if (!secrets) return UNAVAILABLE;
  const body = await readBody();
  if (!body) return TOO_LARGE;
  return isSigned({ headers, body }, secrets, clock.now()) ? body : WRONG_SIGNATURE;
}

async function receive(
  { headers }: HookRequest,
  body: Buffer,
  { recorder, clock, log }: MaintenanceIntakeOptions,
): Promise<HookAnswer> {
  const read = readReport(body.toString('utf8'));
  if ('problem' in read) return { status: 422, text: `invalid: ${read.problem}`, result: 'Invalid' };
  const { report } = read;
  const now = clock.now();
  // It is signed and recent: isSigned has verified both.
  const reportedAt = new Date(Number(textOf(headers, 'webhook-timestamp')) * 1000);
  try {
    const outcome = await recorder.record({ report, now, reportedAt });
    const because = 'because' in outcome ? outcome.because : undefined;
    const { eventID, machine } = report;
    log.info('maintenance event received', { eventID, machine, outcome: outcome.type, because });
    return answerTo(outcome);
  } catch (error) {
    log.warn('maintenance event not recorded', { eventID: report.eventID, error });
    return NOT_RECORDED;
  }
}

/** The answers to what was not recorded, with the start of the text. */
const ANSWERS = {
  Unchanged: { status: 202, start: 'received before: ', result: 'Repeated' },
  Ignored: { status: 202, start: 'ignored: ', result: 'Ignored' },
  Refused: { status: 409, start: '', result: 'Invalid' },
  UnknownMachine: { status: 422, start: '', result: 'Invalid' },
} as const;

function answerTo(outcome: HardwareReportOutcome): HookAnswer {
  if (outcome.type === 'Recorded') {
    return { status: 202, text: `recorded: MaintenanceEvent ${outcome.event}`, result: 'Accepted' };
  }
  const { status, start, result } = ANSWERS[outcome.type];
  return { status, text: `${start}${outcome.because}`, result };
}

const UNKNOWN = notFoundAnswer(MAINTENANCE_PATH);
const UNSIGNED = unauthorizedAnswer(
  'the request has no signature: send webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks)',
);
const WRONG_SIGNATURE = unauthorizedAnswer(
  'the signature does not match, or its time differs by more than five minutes: compare the secret and the clock',
);
const TOO_LARGE = tooLargeAnswer(`${MAX_REPORT_BYTES / 1024} KiB`);
const UNAVAILABLE = unavailableAnswer(
  'the Secret of the webhook cannot be used: see the log of kubenode controllers',
);
const NOT_RECORDED = unavailableAnswer(
  'the API server has not recorded the event: see the log of kubenode controllers, and send it again',
);
