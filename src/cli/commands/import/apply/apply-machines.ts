/** Applies the Machines of an import, some at a time. One that is refused does not hold up the others. */
import { MACHINES } from '../../../../api/generated/resources.ts';
import { MANAGER_IMPORT } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../kube/client/errors.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { runConcurrently } from '../../../../kube/process/run-concurrently.ts';
import { messageOf } from '../../../../os/errors.ts';
import type { ImportedMachine } from '../report/machines.ts';
import { foreignMachineReason } from './owned.ts';

export interface AppliedMachine {
  readonly name: string;
  /** Why it was not applied. */
  readonly refusal?: string;
}

/** Returns one result for each Machine, in their order. Rejects when the API server cannot be reached, or the command is interrupted. */
export async function applyMachines(
  client: Client,
  machines: readonly ImportedMachine[],
  signal: AbortSignal,
): Promise<readonly AppliedMachine[]> {
  return await runConcurrently(machines, (machine) => applyOne(client, machine, signal));
}

async function applyOne(
  client: Client,
  machine: ImportedMachine,
  signal: AbortSignal,
): Promise<AppliedMachine> {
  const { name } = machine.metadata;
  const existing = await findMachine(client, name, signal);
  const refusal = existing && foreignMachineReason(existing);
  if (refusal !== undefined) return { name, refusal };
  try {
    // Without force: a field that somebody else changed since is a conflict, and stays theirs.
    await client.apply(MACHINES, { ...machine }, { fieldManager: MANAGER_IMPORT, signal });
    return { name };
  } catch (error) {
    if (!isKubeError(error, 'Conflict', 'Invalid', 'Forbidden')) throw error;
    return { name, refusal: messageOf(error) };
  }
}

async function findMachine(
  client: Client,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return await unlessMissing(client.get(MACHINES, { name }, { signal }));
}
