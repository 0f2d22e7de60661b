/**
 * Runs a fixed script on a host, as root where asked. The command line is a constant: it reads the script from its stdin, and the script
 * reads its values there. So no login shell, no process list and no log of the host ever sees a value.
 */
import { whenAborted } from '../../../os/deadline.ts';
import { SshError } from '../errors.ts';
import { formatTarget } from '../target.ts';
import type { SshConnection, StartedCommand } from './connection.ts';
import { type DialogOptions, type DialogStep, READY, SUDO_PROMPT, startDialog } from './dialog.ts';
import type { Elevation, ScriptRun } from './host-script.ts';
import { type ScriptEnd, scriptEnd, scriptFailure } from './script-end.ts';
import { sendInput } from './send-input.ts';
import { withStallLimit } from './stall.ts';

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
export async function runScript(connection: SshConnection, run: ScriptRun): Promise<string> {
  const end = await finishScript(connection, run);
  const failure = scriptFailure(end, run.script.name, formatTarget(connection.target));
  if (failure) throw failure;
  return end.output;
}

/** Returns how the script ended, also if it failed. Throws if it was not started, printed too much, or hangs. */
export async function finishScript(connection: SshConnection, run: ScriptRun): Promise<ScriptEnd> {
  const where = formatTarget(connection.target);
  const { name } = run.script;
  const seconds = Math.round(run.timeoutMs / 1000);
  const because = run.input ? `made no progress for ${seconds} s` : `did not end within ${seconds} s`;
  const expired = (): SshError => new SshError('Timeout', `the ${name} ${because}`, { where });
  const input = inputOf(run);
  return await withStallLimit(
    { clock: run.clock, ms: run.timeoutMs, signal: run.signal, expired },
    async (signal, progress) => {
      const started = await connection.start(COMMANDS[run.elevation.type], signal);
      return await converse(started, { run, input, connection, signal, progress });
    },
  );
}

interface Conversation {
  readonly run: ScriptRun;
  readonly input: DialogOptions['input'];
  readonly connection: SshConnection;
  readonly signal: AbortSignal;
  readonly progress: () => void;
}

function converse(
  { channel, exitCode, drained }: StartedCommand,
  { run, input, connection, signal, progress }: Conversation,
): Promise<ScriptEnd> {
  return new Promise((resolve, reject) => {
    const dialog = startDialog({ input, maxBytes: run.maxBytes });
    const stopListening = whenAborted(signal, fail);
    channel.setEncoding('utf8');
    channel.stderr.setEncoding('utf8');
    channel.on('data', (text: string) => follow(dialog.out(text)));
    channel.stderr.on('data', (text: string) => follow(dialog.err(text)));
    channel.on('error', () => undefined);
    channel.once('close', () => {
      stopListening();
      const lost = exitCode() === undefined ? connection.endError() : undefined;
      if (lost) {
        reject(lost);
        return;
      }
      try {
        resolve(scriptEnd(dialog, { run, where: formatTarget(connection.target), exitCode: exitCode() }));
      } catch (error) {
        reject(error);
      }
    });

    function follow(step: DialogStep): void {
      if (step.type === 'Send') channel.write(step.text);
      if (step.type === 'SendAll') sendAll(step.text);
      if (step.type === 'Stop') channel.destroy();
    }

    function sendAll(text: string): void {
      if (run.input === undefined) {
        channel.end(text);
        return;
      }
      channel.write(text);
      sendInput({ channel, drained }, run.input, progress).catch(fail);
    }

    function fail(reason: Error): void {
      reject(reason);
      channel.destroy();
    }
  });
}

function inputOf({ script, values, elevation }: ScriptRun): DialogOptions['input'] {
  const broken = values.find((value) => /[\n\0]/.test(value));
  if (broken !== undefined) throw new RangeError('a value of a script has a line break');
  const text = `${Buffer.byteLength(script.text)}\n${script.text}${values.map((each) => `${each}\n`).join('')}`;
  return {
    script: text,
    ...(elevation.type === 'SudoPassword' && { password: `${elevation.password}\n` }),
  };
}
