/** Keeps the last accepted state of the Machine on disk: the agent works from it while the API server is away. */

import type { Machine, MachineComponentSpec } from '../../api/generated/types.ts';
import { canonicalJson } from '../../kube/objects/digest.ts';
import { messageOf, OsError } from '../../os/errors.ts';
import { type AcceptedState, acceptMachine, knownSpecs, neededRefs } from '../desired/accepted.ts';
import type { HostFiles } from '../host/port.ts';
import { DESIRED_FILE } from '../layout.ts';
import { readStateFile, writeStateFile } from '../state-file.ts';
import type { AgentApi } from './api.ts';

export interface AcceptanceKeeper {
  current(): AcceptedState | undefined;
  /** Why the newest state is not accepted. */
  refused(): string | undefined;
  refresh(): Promise<void>;
}

/** The host of one machine is never worked on for another: it would take the components of the other one for orphans. */
export async function requireOwnHost(files: HostFiles, machine: string): Promise<void> {
  const accepted = await readStateFile<AcceptedState>(files, DESIRED_FILE);
  if (!accepted || accepted.name === machine) return;
  throw new OsError('BadInput', `this host belongs to Machine ${accepted.name}, not to ${machine}`, {
    hint: `pass --machine ${accepted.name}, or use another host or directory for ${machine}`,
  });
}

export async function openAcceptance(
  files: HostFiles,
  api: Pick<AgentApi, 'machine' | 'component'>,
): Promise<AcceptanceKeeper> {
  let accepted = await readStateFile<AcceptedState>(files, DESIRED_FILE);
  let refused: string | undefined;
  let taken: Machine | undefined;

  /** MachineComponents are read once: what an entry names by digest never changes. */
  async function readSpecs(machine: Machine): Promise<ReadonlyMap<string, MachineComponentSpec>> {
    const specs = new Map(knownSpecs(machine.spec, accepted));
    for (const ref of neededRefs(machine.spec)) {
      if (specs.has(ref)) continue;
      const component = await api.component(ref);
      if (component) specs.set(ref, component.spec);
    }
    return specs;
  }

  async function take(machine: Machine): Promise<void> {
    const found = acceptMachine(accepted, machine, await readSpecs(machine));
    refused = 'refused' in found ? found.refused : undefined;
    taken = undefined;
    if (!('accepted' in found)) return;
    if (canonicalJson(found.accepted) !== canonicalJson(accepted ?? null)) {
      await writeStateFile(files, DESIRED_FILE, found.accepted);
      accepted = found.accepted;
    }
    taken = machine;
  }

  /** A person may have removed the file: without it a start while the API server is away enforces nothing. */
  async function restore(): Promise<void> {
    if (accepted && !(await files.stat(DESIRED_FILE))) await writeStateFile(files, DESIRED_FILE, accepted);
  }

  return {
    current: () => accepted,
    refused: () => refused,
    async refresh() {
      const machine = api.machine();
      // The watch gives another object after each change.
      if (!machine || machine === taken) return await restore();
      try {
        await take(machine);
      } catch (error) {
        // Of a disk that is full, the status of the Machine is the only place that people see.
        const because = messageOf(error);
        refused = `the newest state of the Machine could not be taken over: ${because}`;
        throw error;
      }
    },
  };
}
