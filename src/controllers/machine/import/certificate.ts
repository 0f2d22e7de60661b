/** Decides the condition CertificateIssued of a machine whose certificate is asked for by its import. Pure. */
import { CERTIFICATE_REQUESTS, decisionOf } from '../../../kube/auth/certificate-requests.ts';
import { requestReason } from '../certificate-wait.ts';
import { type Finding, finding } from '../finding.ts';
import { failedFinding, failedForGood } from './failed-finding.ts';
import { finalFailure, type ImportFailure } from './failure.ts';
import { type ImportInput, nextImportStep } from './plan.ts';

const TYPE = 'CertificateIssued';

export function importCertificateFinding(input: ImportInput): Finding {
  const result = registrationResult(input);
  if (result?.step === 'Deliver' && !result.failure) return deliveredFinding();
  const failure = deniedRequest(input) ?? result?.failure;
  if (failure) return failedFinding(TYPE, failure);
  return failedForGood(TYPE, input) ?? { type: TYPE, status: 'False', ...waitReason(input) };
}

export function deliveredFinding(): Finding {
  return finding(TYPE, 'True', 'Delivered', 'the host has its certificate');
}

function registrationResult({ result }: ImportInput): ImportInput['result'] {
  return result?.step === 'Request' || result?.step === 'Deliver' ? result : undefined;
}

/** A denial is final: the API server keeps it, and the same request would be denied again. */
export function deniedRequest({ request }: ImportInput): ImportFailure | undefined {
  if (!request || decisionOf(request).state !== 'Denied') return undefined;
  const { name } = request.metadata;
  const { because = '' } = decisionOf(request);
  const blocker = { kind: CERTIFICATE_REQUESTS.kind, name };
  return finalFailure('RequestDenied', `certificate request ${name} was denied: ${because}`, blocker);
}

function waitReason(input: ImportInput): Pick<Finding, 'reason' | 'message' | 'blocker'> {
  const pending = requestReason(input.request);
  if (pending) return pending;
  const next = nextImportStep(input);
  if (next === 'Deliver') {
    return { reason: 'Delivering', message: 'the certificate is being delivered to the host' };
  }
  if (next === 'Connect' || next === 'Preflight' || next === 'Install') {
    return { reason: 'NotStarted', message: 'the step before it is not done' };
  }
  if (input.machine.spec.import?.dryRun) return { reason: 'DryRun', message: 'spec.import.dryRun is true' };
  return { reason: 'Registering', message: 'the key of the agent is being made on the host' };
}
