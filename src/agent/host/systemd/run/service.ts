/**
 * Runs programs as transient services of systemd: outside of what the unit of the agent may not do, with rights of their own, in one
 * slice with limits, and killed as a whole.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { childEnvironment } from '../../../../os/process/child.ts';
import { HostError } from '../../errors.ts';
import type { HostFiles, HostProcesses } from '../../port.ts';
import { runProgram } from '../../run-with-limits.ts';
import { failureText, type RunCommand } from '../commands.ts';
import { PLUGIN_SLICE, SLICE_TEXT, serviceCommand, serviceOutcome } from './service-command.ts';

/** The slice exists until the next boot; a drop-in of the host changes its limits. */
const SLICE_FILE = `/run/systemd/system/${PLUGIN_SLICE}`;

export interface ServiceRunner {
  readonly run: HostProcesses['run'];
  /** Ends what an agent before this one left. */
  open(): Promise<void>;
}

export function createServiceRunner(
  files: Pick<HostFiles, 'read' | 'stat' | 'write'>,
  command: RunCommand,
): ServiceRunner {
  let prepared: Promise<void> | undefined;

  async function writeSlice(): Promise<void> {
    const content = new TextEncoder().encode(SLICE_TEXT);
    const found = await files.read(SLICE_FILE);
    if (found && Buffer.compare(found, content) === 0) return;
    await files.write(SLICE_FILE, content, { mode: '0644', owner: 'root:root' });
    const answer = await command(['systemctl', 'daemon-reload']);
    if (answer.exitCode !== 0) throw notStarted('systemctl daemon-reload', failureText(answer));
  }

  async function prepare(): Promise<void> {
    prepared ??= writeSlice();
    try {
      await prepared;
    } catch (error) {
      prepared = undefined;
      throw error;
    }
  }

  return {
    async open() {
      if (await files.stat(SLICE_FILE)) await command(['systemctl', 'stop', '--', PLUGIN_SLICE]);
    },
    async run(argv, limits) {
      await prepare();
      const unit = `kubenode-plugin-${randomUUID()}.service`;
      const words = serviceCommand({ unit, argv, limits, environment: childEnvironment() });
      let printed = '';
      const end = async (): Promise<void> => {
        await command(['systemctl', 'kill', '--signal=SIGKILL', '--', unit]).catch(() => undefined);
      };
      const result = await runProgram(words, limits, {
        onTimeout: () => void end(),
        onStderr: (piece) => void (printed += piece.toString('utf8')),
      });
      // A stop of the agent ends the systemd-run in its control group, and not the service.
      if (result.signal !== undefined && !result.timedOut) await end();
      const outcome = serviceOutcome(result, printed, constants.signals);
      if ('refused' in outcome) throw notStarted('systemd-run', outcome.refused);
      return outcome;
    },
  };
}

function notStarted(program: string, because: string): HostError {
  return new HostError('UnitFailed', `${program} failed: ${because}`);
}
