/** Runs programs in a scope of systemd: with limits of memory and processes, and killed as a whole. */
import { randomUUID } from 'node:crypto';
import type { HostProcesses } from '../../port.ts';
import { runProgram } from '../../run-with-limits.ts';
import type { RunCommand } from '../commands.ts';
import { RUN_LIMITS } from './service-command.ts';

const SYSTEMD_RUN = ['systemd-run', '--scope', '--quiet', '--collect', '--no-ask-password'];
/** Becomes the program, and reports like any shell when there is none. */
const EXEC = ['/bin/sh', '-c', 'exec "$0" "$@"'];

export function createScopeRunner(command: RunCommand): HostProcesses['run'] {
  return async (argv, limits) => {
    const scope = `kubenode-run-${randomUUID()}.scope`;
    const seconds = Math.ceil(limits.timeoutMs / 1000);
    // systemd ends it, too: an agent that was killed leaves nothing behind.
    const properties = [...RUN_LIMITS, `RuntimeMaxSec=${seconds}`, 'TimeoutStopSec=1'];
    const options = [`--unit=${scope}`, ...properties.map((each) => `--property=${each}`)];
    return await runProgram([...SYSTEMD_RUN, ...options, '--', ...EXEC, ...argv], limits, {
      onTimeout: () =>
        void command(['systemctl', 'kill', '--signal=SIGKILL', '--', scope]).catch(() => undefined),
    });
  };
}
