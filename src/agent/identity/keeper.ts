/**
 * Gets the certificate of one identity and renews it. Every choice is made in plan.ts, from the disk and the API server, so that the agent
 * may end at any line. Only how long to wait after a failure is in memory.
 */

import { generateKeyPairSync, type KeyObject, type X509Certificate } from 'node:crypto';
import { isIssuedBy } from '../../api/authorities/document.ts';
import type { CertificateRequestObject } from '../../kube/auth/certificate-requests.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { publicKeySha256 } from '../../os/x509/certificate-request.ts';
import { type CertificateStep, type HeldCertificate, planCertificate } from './plan.ts';
import {
  createRequest,
  findRequest,
  issuedCertificate,
  type RequestOptions,
  requestState,
} from './request.ts';
import type { IdentityStore } from './store.ts';

export interface KeeperOptions extends RequestOptions {
  readonly store: IdentityStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Returns the authority that is to have issued the certificate. Undefined: any. */
  readonly issuer?: () => X509Certificate | undefined;
  /** Returns what to do when the credentials of the requester are refused. */
  readonly unauthorizedHint?: () => string | undefined;
}

export interface CertificateKeeper {
  /** Makes one step. Returns when to make the next one, in milliseconds. */
  step(): Promise<number>;
  held(): Promise<HeldCertificate | undefined>;
  /** Returns why the last step got no certificate. */
  problem(): string | undefined;
}

const POLL_MS = 2000;
const UNANSWERED = 'the certificate request is not answered yet: kubenode controllers approve it';
/** The time to wait after a denial; after an error it is RETRY_MS. Each agent of a fleet waits for another time. */
const GIVE_UP_MS = 300_000;
const RETRY_MS = 10_000;
/** The part of its life in which a certificate is not renewed again: with a clock that is days ahead each new one seems old. */
const MIN_LIFE = 0.1;
const MAX_WAIT_MS = 60_000;
/** The time after which a certificate of another authority is asked for again: the signer may not have the new one yet. */
const REISSUE_MS = 60_000;

interface Found {
  readonly key: KeyObject | undefined;
  readonly request: CertificateRequestObject | undefined;
}

export function createCertificateKeeper(options: KeeperOptions): CertificateKeeper {
  const { store, clock, random, log, requestPrefix } = options;
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  let reissueFromMs = Number.NEGATIVE_INFINITY;
  let failure = '';
  let obstacle: string | undefined;
  let hasRequested = false;

  async function step(): Promise<number> {
    try {
      const held = await store.held();
      const restMs = (isSuperseded(held, options) ? reissueFromMs : quietUntilMs) - clock.monotonicMs();
      if (restMs > 0) return Math.min(restMs, MAX_WAIT_MS);
      const waitMs = await next(held);
      failure = '';
      return waitMs;
    } catch (error) {
      const hint = isKubeError(error, 'Unauthorized') ? options.unauthorizedHint?.() : undefined;
      const text = messageOf(error);
      const message = hint === undefined ? text : `${text}. ${hint}`;
      if (message !== failure) {
        log.warn('certificate not requested', { identity: requestPrefix, ...optional('hint', hint), error });
      }
      failure = message;
      return RETRY_MS * (0.5 + random());
    }
  }

  async function next(held: HeldCertificate | undefined): Promise<number> {
    const key = await store.pendingKey();
    const before = {
      ...optional('held', held),
      ...optional('pendingKey', key && publicKeySha256(key)),
      isSuperseded: isSuperseded(held, options),
    };
    const now = clock.now();
    const unread = planCertificate({ ...before, request: { state: 'NotRead' }, now });
    if (unread.type !== 'ReadRequest' || !key) return await act(unread, { key, request: undefined });
    const request = await findRequest(options, key);
    const state = requestState(request, key);
    return await act(planCertificate({ ...before, request: state, now }), { key, request });
  }

  async function act(planned: CertificateStep, found: Found): Promise<number> {
    if (planned.type === 'Wait') return msUntil(planned.until);
    if (planned.type === 'Poll') obstacle = UNANSWERED;
    if (planned.type === 'Poll' || planned.type === 'ReadRequest') return POLL_MS;
    if (planned.type === 'CreateRequest') {
      hasRequested = true;
      if (found.key) await createRequest(options, found.key);
      return POLL_MS / 4;
    }
    await write(planned, found);
    return 0;
  }

  async function write(planned: CertificateStep, found: Found): Promise<void> {
    if (planned.type === 'CreateKey') {
      log.info('key created', { identity: requestPrefix, because: planned.because });
      await store.writePendingKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
      return;
    }
    obstacle = undefined;
    if (planned.type === 'Store') await storeCertificate(found);
    if (planned.type === 'GiveUp') {
      log.error('no certificate for this key', { identity: requestPrefix, because: planned.because });
      obstacle = `${planned.because}. docs/guides/join-a-machine.md tells what to do; then start the agent again`;
    }
    await store.forgetPendingKey();
    quietUntilMs = clock.monotonicMs() + quietMsAfter(planned, hasRequested, options);
    reissueFromMs =
      planned.type === 'Store' ? clock.monotonicMs() + REISSUE_MS * (0.5 + random()) : quietUntilMs;
  }

  function msUntil(time: Date): number {
    return Math.min(MAX_WAIT_MS, Math.max(0, time.getTime() - clock.now().getTime()));
  }

  async function storeCertificate({ key, request }: Found): Promise<void> {
    const certificate = issuedCertificate(request);
    if (!key || !certificate) return;
    await store.store(certificate.toString(), key);
    log.info('certificate stored', { identity: requestPrefix, until: certificate.validToDate.toISOString() });
  }

  return { step, held: () => store.held(), problem: () => (failure === '' ? obstacle : failure) };
}

/** Tells whether another authority is to have issued the certificate. */
function isSuperseded(held: HeldCertificate | undefined, { issuer }: Pick<KeeperOptions, 'issuer'>): boolean {
  const authority = issuer?.();
  if (!authority || !held?.certificate) return false;
  return !isIssuedBy(held.certificate, authority);
}

function quietMsAfter(
  { type }: CertificateStep,
  hasRequested: boolean,
  { random, lifetimeSeconds }: Pick<KeeperOptions, 'random' | 'lifetimeSeconds'>,
): number {
  // The request of an earlier process: a person may have brought another token since.
  if (type === 'GiveUp') return hasRequested ? GIVE_UP_MS * (0.5 + random()) : 0;
  return type === 'Store' ? MIN_LIFE * lifetimeSeconds * 1000 : 0;
}
