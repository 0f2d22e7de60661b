/** Finds the processes of a fleet again, by what stands in their command lines. */
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ProcessIdentity, readProcessIdentity } from '../../os/process-identity.ts';
import type { Layout } from '../layout.ts';
import { PROGRAMS } from './commands.ts';
import type { Slot, Stray } from './plan.ts';
import { isThatProcess, type ProcessSpec } from './specs.ts';

export interface Observed {
  readonly slots: readonly Slot[];
  readonly strays: readonly Stray[];
  /** By pid: what to compare with before anything is sent to it. */
  readonly identities: ReadonlyMap<number, ProcessIdentity>;
}

export async function observe(specs: readonly ProcessSpec[], layout: Layout): Promise<Observed> {
  const ours = (await allProcesses()).filter(({ command }) => isOfFleet(command, layout));
  const slots = specs.map((spec) => ({
    id: spec.id,
    command: [spec.command.program, ...spec.command.args],
    found: ours.filter(({ command }) => isThatProcess(command, spec)),
  }));
  const known = new Set(slots.flatMap(({ found }) => found.map(({ pid }) => pid)));
  const strays = ours.filter(({ pid }) => !known.has(pid));
  return {
    slots,
    strays: strays.map(({ pid, command }) => ({ pid, program: basename(command[0] ?? '') })),
    identities: new Map(ours.map((identity) => [identity.pid, identity])),
  };
}

/** One of our programs, with a file of this fleet among its flags: an editor with such a file open is neither. */
function isOfFleet(command: readonly string[], { root }: Layout): boolean {
  const program = basename(command[0] ?? '');
  const isOurs = PROGRAMS.some((name) => name === program && name !== 'kubectl' && name !== 'kubelet');
  return isOurs && command.some((argument) => /^--[\w-]+=/.test(argument) && argument.includes(`=${root}/`));
}

async function allProcesses(): Promise<ProcessIdentity[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // What another user hides from us is not ours.
  const found = await Promise.all(pids.map((pid) => readProcessIdentity(Number(pid)).catch(() => undefined)));
  return found.filter((identity) => identity !== undefined);
}
