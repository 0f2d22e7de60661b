/**
 * Decides the next step of an import: one at a time, and each only once the step before it is in the status. So a controller that is killed
 * anywhere resumes from the conditions, and from what the next step finds on the host. Pure.
 */
import type {
  HostKey,
  Machine,
  MachineImportStatus,
  MachinePreflight,
} from '../../../api/generated/types.ts';
import { type CertificateRequestObject, decisionOf } from '../../../kube/auth/certificate-requests.ts';
import { conditionOf, conditionStatus } from '../../../kube/objects/conditions.ts';
import { isEpochRaised, isRegistered } from './attempt.ts';
import type { ImportFailure } from './failure.ts';
import type { ImportTwin } from './twins.ts';

export type ImportStep = 'Connect' | 'Preflight' | 'Install' | 'Request' | 'Deliver';

/** The steps that have a condition of their own, in their order. */
export const HOST_STEPS = ['Connect', 'Preflight', 'Install'] as const satisfies readonly ImportStep[];

/** The condition that tells whether a step is done. */
export const IMPORT_CONDITION: Readonly<Record<ImportStep, string>> = {
  Connect: 'HostTrusted',
  Preflight: 'PreflightPassed',
  Install: 'AgentInstalled',
  Request: 'CertificateIssued',
  Deliver: 'CertificateIssued',
};

/** The result of a step on the host. What was found before it failed counts, too. */
export interface ImportStepResult {
  readonly step: ImportStep;
  readonly failure?: ImportFailure;
  /** When a step that failed is repeated. */
  readonly retryAt?: Date;
  readonly hostKey?: HostKey;
  readonly preflight?: MachinePreflight;
  readonly ids?: Pick<MachineImportStatus, 'machineID' | 'systemUUID'>;
  /** The version of the agent that was installed. */
  readonly version?: string;
  readonly requestPem?: string;
}

export interface ImportInput {
  readonly machine: Machine;
  readonly attempt: string;
  /** Whether this process imports hosts. */
  readonly isOpen: boolean;
  /** Whether no automation may act. */
  readonly isHeld: boolean;
  /** Whether a step runs, or waits for its turn. */
  readonly isRunning: boolean;
  /** The result of the last step of this attempt, in this process. */
  readonly result?: ImportStepResult;
  /** The newest certificate request of this attempt. */
  readonly request?: CertificateRequestObject;
  readonly twin?: ImportTwin;
  readonly now: Date;
}

export type ImportDecision = { readonly because: string } & (
  | { readonly type: 'Nothing' }
  | { readonly type: 'Wait'; readonly until?: Date }
  /** The result has to be in the status before the next step. */
  | { readonly type: 'Record' }
  | { readonly type: 'CreateRequest'; readonly requestPem: string }
  | { readonly type: 'Act'; readonly step: ImportStep }
);

export function planImport(input: ImportInput): ImportDecision {
  const ended = endReason(input);
  if (ended !== undefined) return { type: 'Nothing', because: ended };
  const next = nextImportStep(input);
  if (typeof next === 'object') return next;
  if (input.isRunning) return { type: 'Wait', because: 'a step is under way' };
  const { result } = input;
  return result?.step === next ? planAfter(next, result, input) : planAct(next, input);
}

/** Returns why nothing is done on the host. */
function endReason({ machine, isOpen, isHeld, twin }: ImportInput): string | undefined {
  if (!machine.spec.import) return 'the host joins by itself';
  if (machine.metadata.deletionTimestamp !== undefined) return 'the Machine is being deleted';
  if (isRegistered(machine)) return 'the host has its certificate';
  if (!isOpen) return 'this process imports no hosts';
  if (isHeld) return 'the machine is held';
  return twin && mayHaveTwin(machine) ? `Machine ${twin.name} is the same host` : undefined;
}

/** Tells whether the host may turn out to be that of another Machine. Later the host itself knows whose it is. */
export function mayHaveTwin({ status }: Machine): boolean {
  return conditionStatus(status?.conditions, 'AgentInstalled') !== 'True';
}

/** Returns the first step that the status does not have yet. */
export function nextImportStep({ machine, request }: ImportInput): ImportStep | ImportDecision {
  const missing = missingStep(machine);
  if (missing === 'Install' && machine.spec.import?.dryRun) {
    return { type: 'Nothing', because: 'only the preflight is asked for' };
  }
  if (missing) return missing;
  if (!isRegistering(machine)) {
    return { type: 'Wait', because: 'the step Registering is not in the status yet' };
  }
  return request ? planRegistration(request) : 'Request';
}

function missingStep({ status }: Machine): (typeof HOST_STEPS)[number] | undefined {
  return HOST_STEPS.find((step) => conditionStatus(status?.conditions, IMPORT_CONDITION[step]) !== 'True');
}

/** Tells whether the status has the step, which the approver reads there. */
function isRegistering({ status }: Machine): boolean {
  return conditionOf(status?.conditions, 'Progressing')?.reason === 'Registering';
}

function planRegistration(request: CertificateRequestObject): ImportStep | ImportDecision {
  const { state } = decisionOf(request);
  if (state === 'Denied') return { type: 'Nothing', because: 'the certificate request was denied' };
  return request.status?.certificate === undefined
    ? { type: 'Wait', because: 'the certificate was not issued yet' }
    : 'Deliver';
}

function planAfter(step: ImportStep, result: ImportStepResult, input: ImportInput): ImportDecision {
  const { failure, retryAt, requestPem } = result;
  if (failure?.isFinal) return { type: 'Nothing', because: `it failed for good: ${failure.reason}` };
  if (failure) {
    const isDue = retryAt === undefined || retryAt <= input.now;
    if (isDue) return { type: 'Act', step, because: `it is repeated after ${failure.reason}` };
    return { type: 'Wait', until: retryAt, because: `it failed: ${failure.reason}` };
  }
  if (requestPem !== undefined) {
    return { type: 'CreateRequest', requestPem, because: 'the host has made its key' };
  }
  return { type: 'Record', because: `${step} is done` };
}

function planAct(step: ImportStep, { machine, attempt }: ImportInput): ImportDecision {
  if (machine.status?.import?.failedAttempt === attempt) {
    return { type: 'Nothing', because: 'this attempt failed for good' };
  }
  if (isEpochRaised(machine) && step === 'Request') {
    return { type: 'Act', step, because: 'spec.agentEpoch was raised' };
  }
  return { type: 'Act', step, because: `${IMPORT_CONDITION[step]} is not True` };
}
