/** Finds the processes of a fleet by their command lines. */
import { basename } from 'node:path';
import { type ProcessIdentity, readProcessIdentity } from '../../os/process/identity.ts';
import { listPids } from '../../os/process/table.ts';
import type { Layout } from '../layout.ts';
import { PROGRAMS } from './commands.ts';
import type { ProcessSlot, StrayProcess } from './plan.ts';
import { matchesSpec, type ProcessSpec } from './specs.ts';

export interface ObservedProcesses {
  readonly slots: readonly ProcessSlot[];
  readonly strays: readonly StrayProcess[];
  /** By pid: compared before a signal is sent. */
  readonly identities: ReadonlyMap<number, ProcessIdentity>;
}

export async function observeProcesses(
  specs: readonly ProcessSpec[],
  layout: Layout,
): Promise<ObservedProcesses> {
  const ours = (await listProcesses()).filter((process) => usesFolder(process, layout.root));
  const slots = specs.map((spec) => ({
    id: spec.id,
    command: [spec.command.program, ...spec.command.args],
    found: ours.filter(({ command }) => matchesSpec(command, spec)),
  }));
  const known = new Set(slots.flatMap(({ found }) => found.map(({ pid }) => pid)));
  const strays = ours.filter(({ pid }) => !known.has(pid));
  return {
    slots,
    strays: strays.map(({ pid, command }) => ({ pid, program: basename(command[0] ?? '') })),
    identities: new Map(ours.map((identity) => [identity.pid, identity])),
  };
}

const FLEET_PROGRAMS = PROGRAMS.filter((name) => name !== 'kubectl' && name !== 'kubelet');

/** Returns whether one of these programs runs with a file of the folder in its flags. An editor with such a file does not count. */
export function usesFolder(
  { command }: Pick<ProcessIdentity, 'command'>,
  root: string,
  programs: readonly string[] = FLEET_PROGRAMS,
): boolean {
  if (!programs.includes(basename(command[0] ?? ''))) return false;
  return command.some((argument) => /^--[\w-]+=/.test(argument) && argument.includes(`=${root}/`));
}

/** Lists the processes of this machine that this user may see. */
export async function listProcesses(): Promise<ProcessIdentity[]> {
  // Processes that other users hide from us are not ours.
  const found = await Promise.all(
    (await listPids()).map((pid) => readProcessIdentity(pid).catch(() => undefined)),
  );
  return found.filter((identity) => identity !== undefined);
}
