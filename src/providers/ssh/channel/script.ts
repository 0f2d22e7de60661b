/**
 * Runs a fixed script on a host, as root where asked. The command line is a constant: it reads the script from its stdin, and the script
 * reads its values there. So no login shell, no process list and no log of the host ever sees a value.
 */
import type { Channel } from 'ssh2';
import { printableLine } from '../../../kube/objects/printable.ts';
import type { Clock } from '../../../os/clock.ts';
import { whenAborted, withDeadline } from '../../../os/deadline.ts';
import { SshError } from '../errors.ts';
import { formatTarget } from '../target.ts';
import type { SshConnection } from './connect.ts';
import { type Dialog, type DialogStep, READY, SUDO_PROMPT, startDialog } from './dialog.ts';

export interface HostScript {
  /** The purpose of the script, as it completes "… failed". */
  readonly name: string;
  /** POSIX shell. A constant of this program. */
  readonly text: string;
}

/** How a script becomes root: not at all, by sudo without a password, or by sudo with one. */
export type Elevation =
  | { readonly type: 'None' }
  | { readonly type: 'Sudo' }
  | { readonly type: 'SudoPassword'; readonly password: string };

export interface ScriptRun {
  readonly script: HostScript;
  /** One line of stdin each. */
  readonly values: readonly string[];
  readonly elevation: Elevation;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The part of the command line that reads the script. `dd` with blocks of one byte reads exactly the script, and leaves the values. No
 * character in it is special to another shell within single quotes.
 */
const LOADER = `/bin/sh -c 'echo ${READY}; read -r n; eval "$(dd bs=1 count="$n" 2>/dev/null)"'`;

const COMMANDS: Record<Elevation['type'], string> = {
  None: LOADER,
  Sudo: `sudo -n -- ${LOADER}`,
  // -k: the dialog is the same whether or not somebody used sudo a minute ago.
  SudoPassword: `sudo -k -S -p ${SUDO_PROMPT} -- ${LOADER}`,
};

/** Returns what the script printed. Throws unless it ended with exit code 0. */
export function runScript(connection: SshConnection, run: ScriptRun): Promise<string> {
  const where = formatTarget(connection.target);
  const { name } = run.script;
  const seconds = Math.round(run.timeoutMs / 1000);
  const expired = (): SshError =>
    new SshError('Timeout', `the ${name} did not end within ${seconds} s`, { where });
  return withDeadline(
    { clock: run.clock, ms: run.timeoutMs, signal: run.signal, expired },
    async (signal) => {
      const channel = await connection.start(COMMANDS[run.elevation.type]);
      return await converse(channel, { run, where, signal });
    },
  );
}

interface Conversation {
  readonly run: ScriptRun;
  readonly where: string;
  readonly signal: AbortSignal;
}

function converse(channel: Channel, { run, where, signal }: Conversation): Promise<string> {
  return new Promise((resolve, reject) => {
    const dialog = startDialog({ input: inputOf(run), maxBytes: run.maxBytes });
    let exitCode: number | undefined;
    const stopListening = whenAborted(signal, fail);
    channel.setEncoding('utf8');
    channel.stderr.setEncoding('utf8');
    channel.on('data', (text: string) => follow(dialog.out(text)));
    channel.stderr.on('data', (text: string) => follow(dialog.err(text)));
    channel.on('error', () => undefined);
    channel.once('exit', (code: number | null) => {
      exitCode = code ?? undefined;
    });
    channel.once('close', () => {
      stopListening();
      const failure = failureOf(dialog, { run, where, exitCode });
      if (failure) reject(failure);
      else resolve(dialog.output());
    });

    function follow(step: DialogStep): void {
      if (step.type === 'Send') channel.write(step.text);
      if (step.type === 'SendAll') channel.end(step.text);
      if (step.type === 'Stop') channel.destroy();
    }

    function fail(reason: Error): void {
      reject(reason);
      channel.destroy();
    }
  });
}

function inputOf({ script, values, elevation }: ScriptRun): { script: string; password?: string } {
  const broken = values.find((value) => /[\n\0]/.test(value));
  if (broken !== undefined) throw new RangeError('a value of a script has a line break');
  const text = `${Buffer.byteLength(script.text)}\n${script.text}${values.map((each) => `${each}\n`).join('')}`;
  return {
    script: text,
    ...(elevation.type === 'SudoPassword' && { password: `${elevation.password}\n` }),
  };
}

interface End {
  readonly run: ScriptRun;
  readonly where: string;
  readonly exitCode: number | undefined;
}

function failureOf(dialog: Dialog, end: End): SshError | undefined {
  const { run, where, exitCode } = end;
  const { name } = run.script;
  if (dialog.isTooLong()) {
    return new SshError('OutputTooLarge', `the ${name} printed more than ${run.maxBytes} bytes`, { where });
  }
  if (!dialog.isReady()) return elevationFailure(end);
  if (exitCode === 0) return undefined;
  const because = exitCode === undefined ? 'its connection ended' : `it ended with ${exitCode}`;
  const detail = maskedLine(dialog.errors(), run.elevation);
  return new SshError('ScriptFailed', `the ${name} failed: ${because}${detail && `: ${detail}`}`, { where });
}

/** The exit code with which shells report a program that is not there. */
const NOT_FOUND = 127;

function elevationFailure({ run, where, exitCode }: End): SshError {
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

/** Returns the first line of what the host printed as an error, without the password. */
function maskedLine(errors: string, elevation: Elevation): string {
  const masked =
    elevation.type === 'SudoPassword' && elevation.password !== ''
      ? errors.replaceAll(elevation.password, '***')
      : errors;
  return printableLine(masked.split('\n').find((line) => line.trim() !== '') ?? '').slice(0, MAX_DETAIL);
}
