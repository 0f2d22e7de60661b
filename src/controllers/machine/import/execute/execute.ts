/** Imports hosts: what the plan decides is started outside of the reconcile, and the reconcile that follows reads its result. */
import { MACHINES } from '../../../../api/generated/resources.ts';
import type { Machine } from '../../../../api/generated/types.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
} from '../../../../kube/auth/certificate-requests.ts';
import { isKubeError } from '../../../../kube/client/errors.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { holdInForce } from '../../../../rollout/holds.ts';
import type { Finding } from '../../finding.ts';
import { isPooled } from '../../instance/pooled.ts';
import { importAttempt } from '../attempt.ts';
import { importFindings, recordedImportFindings } from '../findings.ts';
import {
  type ImportDecision,
  type ImportInput,
  type ImportStep,
  type ImportStepResult,
  mayHaveTwin,
  planImport,
} from '../plan.ts';
import { certificateRequest, findImportRequest } from '../request.ts';
import { type ImportStatus, importStatus } from '../status.ts';
import { findImportTwin, type ImportTwin } from '../twins.ts';
import { retryAt, stepFailure } from './failures.ts';
import {
  type CleanupCounter,
  type HostReleaseState,
  type HostResult,
  RELEASE_ATTEMPT,
  releaseImportedHost,
} from './release.ts';
import { type ImportParts, runStep } from './steps.ts';
import { createHostWork, type HostWork } from './work.ts';

export interface ImportReport extends ImportStatus {
  readonly findings: readonly Finding[];
  readonly requeueAt?: Date;
  /** The status has to be written before the next step. */
  readonly isIntent: boolean;
}

export interface Imports {
  /** Starts the next step on the host, when one is due. It does not wait for the host. */
  ensure(machine: Machine, context: ReconcileContext): Promise<ImportReport>;
  /** Gives the host of a Machine that is deleted back. */
  release(machine: Machine, context: ReconcileContext): HostReleaseState;
  forget(machine: Machine): void;
  /** Calls `add` for each Machine whose step has ended. Returns a function that ends all steps. */
  open(add: (machine: string) => void): () => void;
}

export interface ImportsOptions {
  /** Without it this process imports no hosts, and tells so. */
  readonly parts?: ImportParts;
  readonly incomplete?: CleanupCounter;
}

/** The time that a step may take. The copy of the program has a limit of its own, by its progress. */
const LIMIT_MS: Readonly<Record<ImportStep, number>> = {
  Connect: 60_000,
  Preflight: 90_000,
  Install: 900_000,
  Request: 120_000,
  Deliver: 120_000,
};
/** Another Machine that is the same host may be deleted, which triggers nothing here. */
const TWIN_MS = 30_000;
/** How long the view of requests may be late. */
const REQUEST_MS = 1000;

export function createImports({ parts, incomplete }: ImportsOptions): Imports {
  const work = parts && createHostWork<HostResult>(parts.clock, parts.atOnce);
  const reported = new Set<string>();
  return {
    ensure: (machine, context) => ensure(machine, { parts, work, context }),
    release: (machine, context) =>
      releaseImportedHost(machine, { parts, work, incomplete, reported, context }),
    forget({ metadata: { uid = '' } }) {
      work?.forget(uid);
      reported.delete(uid);
    },
    open: (add) => work?.open(add) ?? (() => undefined),
  };
}

interface Ensure {
  readonly parts: ImportParts | undefined;
  readonly work: HostWork<HostResult> | undefined;
  readonly context: ReconcileContext;
}

const NOT_IMPORTED: ImportReport = { findings: [], isIntent: false };

/** While the provider of a pool does not answer, its host is not known. */
function recordedReport(machine: Machine): ImportReport {
  const { import: recorded, preflight } = machine.status ?? {};
  return {
    ...optional('import', recorded),
    ...optional('preflight', preflight),
    findings: recordedImportFindings(machine),
    isIntent: false,
  };
}

async function ensure(machine: Machine, scope: Ensure): Promise<ImportReport> {
  if (!machine.spec.import) return isPooled(machine) ? recordedReport(machine) : NOT_IMPORTED;
  const input = observeImport(machine, scope);
  const decision = planImport(input);
  const { uid = '' } = machine.metadata;
  // A change of the spec, a deletion and a hold end what is under way for them.
  if (decision.type === 'Nothing') scope.work?.abort(uid, RELEASE_ATTEMPT);
  else scope.work?.abort(uid, input.attempt);
  const requeueAt = await carryOut(decision, input, scope);
  return {
    ...importStatus(input),
    findings: importFindings(input),
    isIntent: decision.type === 'Record',
    ...optional('requeueAt', requeueAt),
  };
}

function observeImport(machine: Machine, { parts, work, context }: Ensure): ImportInput {
  const { name, uid = '' } = machine.metadata;
  const now = context.clock.now();
  const attempt = importAttempt(machine);
  const requests = context.view<CertificateRequestObject>(CERTIFICATE_REQUESTS);
  return {
    machine,
    attempt,
    isOpen: parts !== undefined,
    isHeld: holdInForce(machine, context.view(NODES).get(name), now)?.scope === 'All',
    isRunning: work?.isRunning(uid) === true,
    ...optional('result', stepResult(work?.result(uid, attempt))),
    ...optional('request', findImportRequest(machine, attempt, requests)),
    ...optional('twin', twinOf(machine, context)),
    now,
  };
}

function stepResult(found: HostResult | undefined): ImportStepResult | undefined {
  return found?.step === 'Release' ? undefined : found;
}

function twinOf(machine: Machine, context: ReconcileContext): ImportTwin | undefined {
  if (!mayHaveTwin(machine)) return undefined;
  return findImportTwin(machine, context.view<Machine>(MACHINES).list());
}

/** Returns when the machine is reconciled again though nothing changed. */
async function carryOut(
  decision: ImportDecision,
  input: ImportInput,
  scope: Ensure,
): Promise<Date | undefined> {
  const { now, twin } = input;
  const { context } = scope;
  if (decision.type === 'Act') start(decision.step, input, scope);
  if (decision.type === 'Wait') return decision.until;
  if (decision.type === 'CreateRequest') return await createRequest(decision.requestPem, input, context);
  return twin ? new Date(now.getTime() + TWIN_MS) : undefined;
}

/** The request of a controller that was killed is there already. */
async function createRequest(
  pem: string,
  { machine, attempt, now }: ImportInput,
  context: ReconcileContext,
): Promise<Date> {
  try {
    const { metadata } = await context.create(
      CERTIFICATE_REQUESTS,
      certificateRequest(machine, attempt, pem),
    );
    context.log.info('certificate requested', { request: metadata.name });
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
  return new Date(now.getTime() + REQUEST_MS);
}

function start(
  step: ImportStep,
  { machine, attempt, request }: ImportInput,
  { parts, work, context }: Ensure,
): void {
  const { name, uid = '' } = machine.metadata;
  if (!parts || context.signal.aborted) return;
  const { log } = context;
  log.info('import step started', { step });
  const certificate = request?.status?.certificate;
  work?.start({
    machine: name,
    uid,
    attempt,
    limitMs: LIMIT_MS[step],
    run: async (signal) => {
      const result = await runStep(
        step,
        { machine, ...optional('certificate', certificate) },
        { parts, signal },
      );
      log.info('import step ended', { step, ...optional('failure', result.failure?.reason) });
      return result;
    },
    failed: (error, failures) => {
      const failure = stepFailure(machine, error);
      log.warn('import step failed', { step, reason: failure.reason, message: failure.message, failures });
      return { step, failure, retryAt: retryAt(failure, failures, parts) };
    },
    hasFailed: ({ failure }) => failure !== undefined,
  });
}
