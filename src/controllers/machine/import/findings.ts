/** The conditions of an import: HostTrusted, PreflightPassed, AgentInstalled and SSHCredentialsNeeded. Pure. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { type Finding, finding } from '../finding.ts';
import { hasSpoken, isRegistered } from './attempt.ts';
import { deliveredFinding, importCertificateFinding } from './certificate.ts';
import { failedFinding, failedForGood } from './failed-finding.ts';
import { HOST_STEPS, IMPORT_CONDITION, type ImportInput, nextImportStep } from './plan.ts';

type HostStep = (typeof HOST_STEPS)[number];

const CREDENTIALS = 'SSHCredentialsNeeded';
/** The conditions of imports only. A machine that is not imported has none of them. */
export const IMPORT_CONDITIONS: readonly string[] = [
  ...HOST_STEPS.map((step) => IMPORT_CONDITION[step]),
  CREDENTIALS,
];

/** The reason of an import that was asked for its preflight only. It needs no person. */
export const DRY_RUN_REASON = 'DryRun';

const UNDER_WAY: Readonly<Record<HostStep, readonly [reason: string, message: string]>> = {
  Connect: ['Connecting', 'the host is being connected to'],
  Preflight: ['Checking', 'the preflight is under way'],
  Install: ['Installing', 'the program of the agent is being installed'],
};

/** Also returns CertificateIssued while it is the import that gets the certificate. */
export function importFindings(input: ImportInput): readonly Finding[] {
  const { machine } = input;
  if (!machine.spec.import) return [];
  if (machine.metadata.deletionTimestamp !== undefined) return recordedImportFindings(machine);
  if (isRegistered(machine)) return registeredFindings(machine);
  const needed = finding(
    CREDENTIALS,
    'True',
    'Importing',
    'the host is reached over SSH until its agent reports',
  );
  return [...HOST_STEPS.map((step) => stepFinding(step, input)), importCertificateFinding(input), needed];
}

/** Keeps what is recorded, of a host that is not looked at now. */
export function recordedImportFindings(machine: Machine): readonly Finding[] {
  return recordedFindings(machine, IMPORT_CONDITIONS);
}

/** Keeps what is True. An agent that was on the host before its Machine passed none of these steps. */
function registeredFindings(machine: Machine): readonly Finding[] {
  const steps = recordedFindings(machine, IMPORT_CONDITIONS).filter(
    ({ type, status }) => type !== CREDENTIALS && status === 'True',
  );
  if (!hasSpoken(machine.status)) {
    const message = 'the agent has its certificate and has not reported yet';
    return [...steps, deliveredFinding(), finding(CREDENTIALS, 'True', 'AgentStarting', message)];
  }
  const message = 'the agent reports by itself: the Secret may be deleted';
  return [...steps, finding(CREDENTIALS, 'False', 'AgentReports', message)];
}

function recordedFindings({ status }: Machine, types: readonly string[]): readonly Finding[] {
  return (status?.conditions ?? [])
    .filter(({ type }) => types.includes(type))
    .map(({ type, status: state, reason, message }) => finding(type, state, reason, message));
}

function stepFinding(step: HostStep, input: ImportInput): Finding {
  const recorded = recordedFindings(input.machine, [IMPORT_CONDITION[step]])[0];
  const twin = step === 'Install' ? undefined : twinFinding(IMPORT_CONDITION[step], input);
  // The preflight finds the machine id, by which two hosts turn out to be one.
  if (step === 'Preflight' && twin) return twin;
  if (recorded?.status === 'True') return recorded;
  return twin ?? openFinding(step, input);
}

function openFinding(step: HostStep, input: ImportInput): Finding {
  return nextImportStep(input) === step ? resultFinding(step, input) : laterFinding(step, input);
}

function laterFinding(step: HostStep, input: ImportInput): Finding {
  const type = IMPORT_CONDITION[step];
  if (step === 'Install' && isDryRun(input)) {
    const message =
      'spec.import.dryRun: only the preflight was asked for. Set it to false to import the host';
    return finding(type, 'False', DRY_RUN_REASON, message);
  }
  return finding(type, 'False', 'NotStarted', 'the step before it is not done');
}

function isDryRun({ machine }: ImportInput): boolean {
  const passed = conditionOf(machine.status?.conditions, 'PreflightPassed');
  return machine.spec.import?.dryRun === true && passed?.status === 'True';
}

function twinFinding(type: string, { twin }: ImportInput): Finding | undefined {
  if (!twin) return undefined;
  const message = `Machine ${twin.name} is the same host: ${twin.because}. Delete one of the two Machines`;
  const blocker = { kind: MACHINES.kind, name: twin.name };
  return { ...finding(type, 'False', 'DuplicateHost', message), blocker, isFinal: true };
}

function resultFinding(step: HostStep, input: ImportInput): Finding {
  const type = IMPORT_CONDITION[step];
  const { result } = input;
  if (result?.step === step) return result.failure ? failedFinding(type, result.failure) : done(step, input);
  return failedForGood(type, input) ?? waitFinding(step, input);
}

function waitFinding(step: HostStep, { machine, isOpen, isHeld }: ImportInput): Finding {
  const type = IMPORT_CONDITION[step];
  if (!isOpen) {
    const hint = 'this process imports no hosts. Run kubenode controllers with --agent-programs';
    return finding(type, 'False', 'ImportsNotRun', hint);
  }
  if (isHeld) return finding(type, 'False', 'HeldAll', 'held: nothing is done on the host');
  const [reason, message] = UNDER_WAY[step];
  const address = `${machine.spec.import?.address}:${machine.spec.import?.port}`;
  return finding(type, 'False', reason, `${message} (${address})`);
}

function done(step: HostStep, { machine, result }: ImportInput): Finding {
  const type = IMPORT_CONDITION[step];
  if (step === 'Connect') return trusted(machine, result?.hostKey?.fingerprint);
  if (step === 'Preflight') return finding(type, 'True', 'AsWanted', 'no check of the preflight failed');
  return finding(type, 'True', 'AsWanted', `the agent ${result?.version ?? ''} is installed`);
}

function trusted({ spec }: Machine, key = ''): Finding {
  const type = IMPORT_CONDITION.Connect;
  if (spec.import?.hostKeyPolicy === 'Pinned') {
    return finding(type, 'True', 'Pinned', `the host has the pinned key ${key}`);
  }
  const message = `the host has shown the key ${key}, which is trusted from now on`;
  return finding(type, 'True', 'TrustedOnFirstUse', message);
}
