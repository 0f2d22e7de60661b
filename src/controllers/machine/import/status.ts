/** The part of the status of a Machine that its import writes. Pure. */
import type { MachineImportStatus, MachinePreflight } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { hasSpoken } from './attempt.ts';
import { deniedRequest } from './certificate.ts';
import type { ImportInput } from './plan.ts';

export interface ImportStatus {
  readonly import?: MachineImportStatus;
  readonly preflight?: MachinePreflight;
}

/** Keeps what was recorded: the first key and the epoch of the certificate outlive the import. */
export function importStatus(input: ImportInput): ImportStatus {
  const { machine, result } = input;
  if (!machine.spec.import) return {};
  const found = recordedImport(input);
  return {
    ...(Object.keys(found).length > 0 && { import: found }),
    ...optional('preflight', result?.preflight ?? machine.status?.preflight),
  };
}

function recordedImport(input: ImportInput): MachineImportStatus {
  const { import: before = {} } = input.machine.status ?? {};
  const { ids = {} } = input.result ?? {};
  return {
    ...optional('hostKey', before.hostKey ?? firstKey(input)),
    ...optional('machineID', ids.machineID ?? before.machineID),
    ...optional('systemUUID', ids.systemUUID ?? before.systemUUID),
    ...optional('agentEpoch', registeredEpoch(input)),
    ...optional('failedAttempt', failedAttempt(input)),
  };
}

function firstKey({ machine, result }: ImportInput): MachineImportStatus['hostKey'] {
  return machine.spec.import?.hostKeyPolicy === 'TrustOnFirstUse' ? result?.hostKey : undefined;
}

/** Returns the epoch of the last certificate. An agent that was there before its Machine has that of now. */
function registeredEpoch({ machine, result }: ImportInput): number | undefined {
  const { spec, status } = machine;
  if (result?.step === 'Deliver' && !result.failure) return spec.agentEpoch;
  return status?.import?.agentEpoch ?? (hasSpoken(status) ? spec.agentEpoch : undefined);
}

function failedAttempt(input: ImportInput): string | undefined {
  const { machine, attempt, result } = input;
  const isFinal = result?.failure?.isFinal === true || deniedRequest(input) !== undefined;
  const before = machine.status?.import?.failedAttempt;
  return isFinal || before === attempt ? attempt : undefined;
}
