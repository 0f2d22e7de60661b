/** Tells how a script on a host ended, and names what is wrong if it did not start. No text of it has the password. Pure. */
import { printableLine } from '../../../kube/objects/printable.ts';
import { SshError } from '../errors.ts';
import type { Dialog } from './dialog.ts';
import type { Elevation, ScriptRun } from './host-script.ts';

export interface ScriptEnd {
  /** Undefined: a signal ended the script. */
  readonly exitCode: number | undefined;
  readonly output: string;
  /** The first line that it printed as an error. */
  readonly errorLine: string;
}

export interface FinishedDialog {
  readonly run: ScriptRun;
  /** The host. */
  readonly where: string;
  readonly exitCode: number | undefined;
}

/** Throws if the script did not start, or printed too much. */
export function scriptEnd(dialog: Dialog, end: FinishedDialog): ScriptEnd {
  const { run, where, exitCode } = end;
  if (dialog.isTooLong()) {
    throw new SshError('OutputTooLarge', `the ${run.script.name} printed more than ${run.maxBytes} bytes`, {
      where,
    });
  }
  if (!dialog.isReady()) throw elevationFailure(end);
  return { exitCode, output: dialog.output(), errorLine: maskedLine(dialog.errors(), run.elevation) };
}

/** Undefined: it ended with exit code 0. */
export function scriptFailure(
  { exitCode, errorLine }: ScriptEnd,
  name: string,
  where: string,
): SshError | undefined {
  if (exitCode === 0) return undefined;
  const because = exitCode === undefined ? 'a signal ended it' : `it ended with ${exitCode}`;
  return new SshError('ScriptFailed', `the ${name} failed: ${because}${errorLine && `: ${errorLine}`}`, {
    where,
  });
}

/** The exit code with which shells report a program that is not there. */
const NOT_FOUND = 127;

function elevationFailure({ run, where, exitCode }: FinishedDialog): SshError {
  const { type } = run.elevation;
  if (type === 'None') {
    return new SshError('ScriptFailed', `the ${run.script.name} was not started: the host ran no /bin/sh`, {
      where,
      hint: 'check that the login shell of this user runs commands without a terminal',
    });
  }
  if (exitCode === NOT_FOUND) return new SshError('NoSudo', 'sudo is not installed', { where });
  return type === 'Sudo'
    ? new SshError('SudoPassword', 'sudo asks for a password, or refuses this user', { where })
    : new SshError('NoSudo', 'sudo refuses the password, or this user', { where });
}

const MAX_DETAIL = 200;

function maskedLine(errors: string, elevation: Elevation): string {
  const masked =
    elevation.type === 'SudoPassword' && elevation.password !== ''
      ? errors.replaceAll(elevation.password, '***')
      : errors;
  return printableLine(masked.split('\n').find((line) => line.trim() !== '') ?? '').slice(0, MAX_DETAIL);
}
