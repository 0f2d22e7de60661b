/** Sees to it that a host has a verified program of the agent: what is there already is not copied again. */
import { SshError } from '../errors.ts';
import { ImportError } from './errors.ts';
import { copyError, type HostProgramFacts, type ProgramFolder, planCopy, readLookup } from './lookup.ts';
import { type AgentProgram, type HostArch, streamProgram } from './programs.ts';
import { COPY, LOOK_UP } from './scripts.ts';
import type { ImportSession } from './session.ts';

export async function lookUp(
  { where, limits, run }: ImportSession,
  machineUid: string,
  programs: readonly AgentProgram[],
): Promise<HostProgramFacts> {
  const sumFor = (wanted: HostArch): string => programs.find(({ arch }) => arch === wanted)?.sha256 ?? '';
  const values = [machineUid, sumFor('x86_64'), sumFor('aarch64')];
  const { output, exitCode, errorLine } = await run({ script: LOOK_UP, values, timeoutMs: limits.scriptMs });
  const facts = exitCode === 0 ? readLookup(output) : undefined;
  if (facts) return facts;
  const message = `the ${LOOK_UP.name} failed: its output is not complete${errorLine && `: ${errorLine}`}`;
  throw new SshError('ScriptFailed', message, { where });
}

/** Returns the path of the program on the host. */
export async function placeProgram(
  session: ImportSession,
  facts: HostProgramFacts,
  available: ProgramFolder,
): Promise<string> {
  const { where, limits } = session;
  const source = planCopy(facts, available, where);
  if (source.type === 'Present') return source.path;
  const { program } = source;
  const { output, errorLine } = await session.run({
    script: COPY,
    values: [program.sha256],
    input: streamProgram(program),
    timeoutMs: limits.stallMs,
  });
  const error = copyError(output, { errorLine, where });
  if (error) throw error;
  const after = readCopiedPath(output);
  if (after !== undefined) return after;
  throw new ImportError('BadAnswer', 'the copy of the program has no path', { where });
}

function readCopiedPath(output: string): string | undefined {
  return /^program=(?<path>.+)$/m.exec(output)?.groups?.['path'];
}
