/** Runs the scripts of an import over one connection, with the limits of one host, and names what the program of the agent refuses. */
import type { Clock } from '../../../os/clock.ts';
import type { SshConnection } from '../channel/connection.ts';
import type { Elevation, HostScript } from '../channel/host-script.ts';
import { finishScript } from '../channel/script.ts';
import { type ScriptEnd, scriptFailure } from '../channel/script-end.ts';
import { formatTarget } from '../target.ts';
import { ImportError, type ImportErrorCode, isImportErrorCode } from './errors.ts';

export interface ImportLimits {
  readonly connectMs: number;
  /** The time for the preflight, and for scripts that only read. */
  readonly scriptMs: number;
  /** The time for one command of the agent program, which starts units. */
  readonly commandMs: number;
  /** The time for which a copy may make no progress. */
  readonly stallMs: number;
  /** The time for the release of a host, which stops every component. */
  readonly releaseMs: number;
}

export interface ImportSessionOptions {
  readonly connection: SshConnection;
  readonly elevation: Elevation;
  readonly limits: ImportLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly root: string;
}

export interface HostCall {
  readonly script: HostScript;
  /** After the root. */
  readonly values: readonly string[];
  readonly timeoutMs: number;
  readonly input?: AsyncIterable<Uint8Array>;
}

export interface ImportSession {
  readonly where: string;
  readonly limits: ImportLimits;
  /** Returns how a script ended, also if it failed. */
  readonly run: (call: HostCall) => Promise<ScriptEnd>;
  /** Returns what the program of the agent printed. Throws an ImportError if it refuses or fails. */
  readonly command: (call: HostCall) => Promise<string>;
}

/** A script prints facts of one host, and the program a request or a short list. */
const MAX_BYTES = 256 * 1024;

export function createImportSession(options: ImportSessionOptions): ImportSession {
  const { connection, elevation, limits, clock, signal, root } = options;
  const where = formatTarget(connection.target);
  const run = (call: HostCall): Promise<ScriptEnd> =>
    finishScript(connection, {
      ...call,
      values: [root, ...call.values],
      elevation,
      maxBytes: MAX_BYTES,
      clock,
      signal,
    });
  return {
    where,
    limits,
    run,
    async command(call) {
      const end = await run(call);
      if (end.exitCode === 0) return end.output;
      throw agentCommandError(end, call.script.name, where);
    },
  };
}

/** The exit codes with which shells report a program that cannot be started. */
const CANNOT_START = [126, 127];
const REFUSED = 65;

/** A program that refuses prints a code as its first word. */
export function agentCommandError(end: ScriptEnd, name: string, where: string): Error {
  const { exitCode, errorLine } = end;
  if (exitCode === undefined) return scriptFailure(end, name, where) ?? new Error(name);
  const refusal = refusalOf(end);
  if (refusal) return new ImportError(refusal.code, refusal.message, { where });
  const detail = errorLine && `: ${errorLine}`;
  if (CANNOT_START.includes(exitCode)) {
    return new ImportError('ProgramRefused', `the host does not start the program of the agent${detail}`, {
      where,
    });
  }
  return new ImportError('AgentFailed', `the ${name} failed: it ended with ${exitCode}${detail}`, { where });
}

function refusalOf({
  exitCode,
  errorLine,
}: ScriptEnd): { readonly code: ImportErrorCode; readonly message: string } | undefined {
  const { code = '', message = '' } =
    /^(?<code>[A-Z][A-Za-z]+):? (?<message>.+)$/.exec(errorLine)?.groups ?? {};
  return exitCode === REFUSED && isImportErrorCode(code) ? { code, message } : undefined;
}
