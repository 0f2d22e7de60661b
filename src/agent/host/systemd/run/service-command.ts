/** The command that runs a program as a transient service of systemd, and what its result means. Pure. */
import type { ProgramRights, RunLimits, RunResult } from '../../port.ts';
import { PROGRAM_NOT_FOUND } from '../../run-with-limits.ts';

/** All plug-ins together. Each has the limits of its own service beside these. */
export const PLUGIN_SLICE = 'kubenode-plugins.slice';
const SYSTEMD_RUN = ['systemd-run', '--pipe', '--wait', '--quiet', '--collect', '--no-ask-password'];
/** One program may use little beside the work that pays for the node. */
export const RUN_LIMITS = ['MemoryMax=256M', 'MemorySwapMax=0', 'TasksMax=256'];
/** These properties keep the messages of systemd at each start and end out of the journal, and end processes that ignore signals. */
const SERVICE = ['KillSignal=SIGKILL', 'TimeoutStopSec=1', 'LogLevelMax=notice'];
/** The agent ends the program at its time limit, and systemd a moment later, when the agent was killed in between. */
const SPARE_MS = 1000;

/** A slice of its own, so that plug-ins together can take neither the node nor the agent from its work. */
export const SLICE_TEXT = `[Unit]
Description=Plug-ins of the problem detector of the kubenode agent
[Slice]
CPUWeight=50
CPUQuota=100%
MemoryMax=512M
MemorySwapMax=0
TasksMax=1024
`;

export interface ServiceRun {
  readonly unit: string;
  readonly argv: readonly string[];
  readonly limits: RunLimits;
  readonly environment: Readonly<Record<string, string>>;
}

export function serviceCommand({ unit, argv, limits, environment }: ServiceRun): readonly string[] {
  const { timeoutMs, rights = {}, onlyStdout } = limits;
  const properties = [
    ...RUN_LIMITS,
    ...SERVICE,
    `RuntimeMaxSec=${timeoutMs + SPARE_MS}ms`,
    ...rightsProperties(rights),
  ];
  // systemd replaces variables in the words of a service.
  const words = ['/bin/sh', '-c', script(onlyStdout === true), ...argv].map((word) =>
    word.replaceAll('$', '$$$$'),
  );
  return [
    ...SYSTEMD_RUN,
    `--unit=${unit}`,
    `--slice=${PLUGIN_SLICE}`,
    `--description=Plug-in ${argv[0]}`,
    ...Object.entries(environment).map(([name, value]) => `--setenv=${name}=${value}`),
    ...properties.map((each) => `--property=${each}`),
    '--',
    ...words,
  ];
}

/** The program gets only the rights that are declared, and no program that it starts can gain more. */
function rightsProperties({ user, capabilities }: ProgramRights): readonly string[] {
  if (user === undefined && capabilities === undefined) return [];
  const names = capabilities?.join(' ') ?? '';
  return [
    `User=${user ?? 'root'}`,
    `CapabilityBoundingSet=${names}`,
    `AmbientCapabilities=${names}`,
    'NoNewPrivileges=yes',
  ];
}

/**
 * The shell prints the exit status where only systemd-run prints, too: systemd-run exits with 1 for a program that exited with 1, for one
 * that was killed, and when it could start none. It outlives a program that signals its own group.
 */
function script(onlyStdout: boolean): string {
  return `trap : HUP INT TERM; exec 3>&2 2>${onlyStdout ? '/dev/null' : '&1'}; "$0" "$@" 3>&-; echo "$?" >&3`;
}

const HINT =
  'Check that D-Bus runs (systemctl status dbus) and that systemd starts services (systemd-run --wait true)';

/** A shell adds the number of a signal that ended a program to this. */
const SIGNALED = 128;
/** systemd-run exits with these codes when systemd could not prepare the process, for example for a user that does not exist. */
const isNotPrepared = (exitCode: number): boolean => exitCode >= 200 && exitCode < 255;

/** `printed` is what came from stderr of systemd-run; `signals` are the numbers of signals by name. */
export function serviceOutcome(
  result: RunResult,
  printed: string,
  signals: Readonly<Record<string, number>>,
): RunResult | { readonly refused: string } {
  const { exitCode: _, signal: __, ...rest } = result;
  const status = /(?:^|\n)(?<code>\d+)\n$/.exec(printed)?.groups?.['code'];
  if (status !== undefined) return { ...rest, ...endOf(Number(status), signals) };
  if (result.timedOut) return result;
  const refused = refusedReason(result, printed);
  // Without a reason, the shell was killed together with the program, for example because memory ran out.
  return refused === undefined ? { ...rest, signal: 'unknown' } : { refused };
}

function refusedReason({ exitCode = 0, output }: RunResult, printed: string): string | undefined {
  if (printed !== '') return `${printed.trim()}. ${HINT}`;
  if (exitCode === PROGRAM_NOT_FOUND) return `${output}. ${HINT}`;
  if (!isNotPrepared(exitCode)) return undefined;
  return `it could not prepare the process (exit code ${exitCode}). Find the cause with: journalctl -u 'kubenode-plugin-*'`;
}

function endOf(
  status: number,
  signals: Readonly<Record<string, number>>,
): Pick<RunResult, 'exitCode' | 'signal'> {
  const signal = Object.keys(signals).find((name) => signals[name] === status - SIGNALED);
  return signal === undefined ? { exitCode: status } : { signal };
}
