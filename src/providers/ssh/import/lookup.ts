/** Reads what the scripts found on a host, and decides whether the program of the agent has to be copied to it. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import { ImportError } from './errors.ts';
import type { AgentProgram } from './programs.ts';
import { LAST_LINE } from './scripts.ts';

export interface HostProgramFacts {
  readonly arch: string;
  /** The verified program with the expected sha256. */
  readonly program?: string;
  /** A program that an installation placed, of whatever version. */
  readonly installed?: string;
  /** None: no Machine has taken over the host. */
  readonly owner: 'None' | 'Own' | 'Other';
  /** The name in the record, for people. */
  readonly ownerName?: string;
  readonly missingTools: readonly string[];
  readonly space: SpaceFacts;
}

export interface SpaceFacts {
  readonly freeKib?: number;
  /** The folder in which nothing can be written. */
  readonly readOnly?: string;
}

/** Returns undefined for an output that is not complete. */
export function readLookup(output: string): HostProgramFacts | undefined {
  const facts = factsOf(output);
  if (!facts) return undefined;
  const [program] = facts.get('program') ?? [];
  const [installed] = facts.get('installed') ?? [];
  return {
    arch: facts.get('arch')?.[0] ?? '',
    ...optional('program', program),
    ...optional('installed', installed),
    ...ownerOf(facts),
    missingTools: facts.get('lacks') ?? [],
    space: spaceOf(facts),
  };
}

function ownerOf(facts: Facts): Pick<HostProgramFacts, 'owner' | 'ownerName'> {
  const [owner] = facts.get('owner') ?? [];
  if (owner === undefined) return { owner: 'None' };
  const [name = ''] = facts.get('owner-name') ?? [];
  return { owner: owner === 'own' ? 'Own' : 'Other', ...(/^[a-z0-9.-]+$/.test(name) && { ownerName: name }) };
}

type Facts = ReadonlyMap<string, readonly string[]>;

function factsOf(output: string): Facts | undefined {
  const lines = output.split('\n').map((line) => line.replace(/\r$/, ''));
  if (!lines.includes(LAST_LINE)) return undefined;
  const pairs = lines.flatMap((line) => {
    const at = line.indexOf('=');
    return at > 0 ? [{ name: line.slice(0, at), value: line.slice(at + 1) }] : [];
  });
  const groups = Map.groupBy(pairs, ({ name }) => name);
  return new Map([...groups].map(([name, all]) => [name, all.map(({ value }) => value)]));
}

function spaceOf(facts: Facts): SpaceFacts {
  const [free = ''] = facts.get('free-kib') ?? [];
  const [readOnly] = facts.get('read-only') ?? [];
  return {
    ...(/^\d{1,15}$/.test(free) && { freeKib: Number(free) }),
    ...(readOnly !== undefined && { readOnly }),
  };
}

export type ProgramSource =
  | { readonly type: 'Present'; readonly path: string }
  | { readonly type: 'Copy'; readonly program: AgentProgram };

/** The copy and the place from which it runs are there at the same time. */
const COPIES = 2;

/** The programs of one folder on this machine. */
export interface ProgramFolder {
  readonly folder: string;
  readonly programs: readonly AgentProgram[];
}

/** Throws what is in the way, before anything is sent. */
export function planCopy(
  facts: HostProgramFacts,
  { folder, programs }: ProgramFolder,
  where: string,
): ProgramSource {
  if (facts.program !== undefined) return { type: 'Present', path: facts.program };
  const program = programs.find(({ arch }) => arch === facts.arch);
  if (program === undefined) {
    throw new ImportError('ProgramMissing', missingText(facts.arch, { folder, programs }), { where });
  }
  const { missingTools, space } = facts;
  if (missingTools.length > 0) {
    throw new ImportError('ToolsMissing', `the host has no ${missingTools.join(' and no ')}`, { where });
  }
  const error = spaceError(space, Math.ceil((program.sizeBytes * COPIES) / 1024), where);
  if (error) throw error;
  return { type: 'Copy', program };
}

function missingText(arch: string, { folder, programs }: ProgramFolder): string {
  const known = programs.map((each) => each.arch).join(' and ') || 'no architecture';
  const host = arch === '' ? 'did not tell its architecture' : `is ${arch}`;
  return `the host ${host}, and the folder ${folder} has the program of the agent for ${known} only`;
}

export function spaceError(space: SpaceFacts, neededKib: number, where: string): ImportError | undefined {
  const { readOnly, freeKib } = space;
  if (readOnly !== undefined) {
    return new ImportError('ReadOnly', `nothing can be written to ${readOnly}`, { where });
  }
  if (freeKib === undefined || freeKib >= neededKib) return undefined;
  const message = `the disk is full: ${neededKib} KiB are needed for the program, ${freeKib} KiB are free`;
  return new ImportError('NoSpace', message, { where });
}

export interface CopyEnd {
  readonly errorLine: string;
  readonly where: string;
}

/** Undefined: the program is on the host, verified. */
export function copyError(output: string, { errorLine, where }: CopyEnd): ImportError | undefined {
  const facts = factsOf(output);
  const [result] = facts?.get('result') ?? [];
  if (facts === undefined || result === undefined) {
    return new ImportError('BadAnswer', 'the copy of the program ended without a result', { where });
  }
  if (result === 'Copied') return undefined;
  const full = result === 'WrongSum' ? undefined : spaceError(spaceOf(facts), MIN_FREE_KIB, where);
  return full ?? writeError(result, { errorLine, where });
}

function writeError(result: string, { errorLine, where }: CopyEnd): ImportError {
  const detail = errorLine && `: ${errorLine}`;
  return result === 'NotWritten'
    ? new ImportError('NotWritten', `the program could not be written${detail}`, { where })
    : new ImportError('VerifyFailed', `the program that arrived is not the expected one${detail}`, { where });
}

/** With less than this left, a write that failed is one that found the disk full. */
const MIN_FREE_KIB = 1024;
