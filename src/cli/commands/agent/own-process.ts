/** This process as the agent of its host: how the watchdog of an upgrade starts another version in its place. */
import { realpathSync } from 'node:fs';
import { isSea } from 'node:sea';
import { AGENT_PROGRAM_LINK } from '../../../agent/layout.ts';
import type { AgentAccess } from '../../../agent/main.ts';
import type { OwnProgram } from '../../../agent/takeover/install.ts';
import type { AgentSelf, NoSelfUpgrade } from '../../../agent/upgrade/self.ts';
import { machineUptimeMs } from '../../../agent/upgrade/uptime.ts';
import { readProcessIdentity } from '../../../os/process/identity.ts';

export interface OwnProcessOptions {
  readonly host: string;
  readonly access: AgentAccess;
  readonly healthySeconds: number;
}

export async function describeOwnProcess(options: OwnProcessOptions): Promise<AgentSelf | NoSelfUpgrade> {
  const { argv, execArgv, execPath, pid } = process;
  const [, started = '', ...args] = argv;
  const unsupported = noUpgradeReason(options, started);
  const identity = await readProcessIdentity(pid);
  if (unsupported !== undefined) return { unsupported };
  if (!identity) return { unsupported: 'this system has no /proc' };
  return {
    program: realpathSync(started),
    // A program with Node.js inside has its options inside, too.
    launch: { runtime: isSea() ? [] : [execPath, ...execArgv], args },
    identity,
    healthySeconds: options.healthySeconds,
    uptimeMs: machineUptimeMs,
  };
}

function noUpgradeReason({ host, access }: OwnProcessOptions, started: string): string | undefined {
  if ('client' in access) {
    return 'this agent runs with a kubeconfig: start it with --bootstrap, so that it has a certificate of its own';
  }
  if (host !== 'systemd' || started === AGENT_PROGRAM_LINK) return undefined;
  return `the unit of the agent does not start ${AGENT_PROGRAM_LINK}: print it again with kubenode agent unit`;
}

/** Describes the program of the agent that this process runs, which `install` places on a host. */
export function ownAgentProgram(version: string): OwnProgram {
  const { argv, execPath } = process;
  return isSea() ? { version, file: execPath } : { version, file: argv[1] ?? '', node: execPath };
}
