/** The agent of a sandbox: a process of its own session, without a supervisor. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../os/clock.ts';
import { startProcess, stopProcess } from '../../../os/process/child.ts';
import { isRunning, type ProcessIdentity, readProcessIdentity } from '../../../os/process/identity.ts';
import { listPids, readResidentBytes } from '../../../os/process/table.ts';
import { readCleanLogTail } from '../../host/log-tail.ts';
import { sandboxFolders } from '../../host/sandbox/folders.ts';
import { AGENT_COMPONENT } from '../../layout.ts';
import type { AgentUpgrade } from '../slots.ts';
import type { AgentService } from './port.ts';

/** A reconcile may be in a download: the journal makes every end safe. */
const STOP_MS = 10_000;

export function createSandboxService(
  directory: string,
  { from, to, launch, replaces }: Pick<AgentUpgrade, 'from' | 'to' | 'launch' | 'replaces'>,
  clock: Clock,
): AgentService {
  const logFile = sandboxFolders(directory).logFile(AGENT_COMPONENT);
  const commands = [from, to].map((program) => commandOf(program));

  function commandOf(program: string): readonly string[] {
    return [...launch.runtime, program, ...launch.args];
  }

  /** The arguments name the directory of the sandbox, so that no other agent has the same ones. */
  async function agents(): Promise<readonly ProcessIdentity[]> {
    const found: ProcessIdentity[] = isRunning(replaces) ? [replaces] : [];
    for (const pid of await pidsOf(commands)) {
      const identity = await readProcessIdentity(pid);
      if (identity && pid !== replaces.pid) found.push(identity);
    }
    return found;
  }

  return {
    async running() {
      const [agent] = await agents();
      const residentBytes = agent && (await readResidentBytes(agent.pid));
      if (!agent || residentBytes === undefined) return undefined;
      return { pid: agent.pid, startId: agent.startTicks, residentBytes };
    },
    async stop() {
      for (const agent of await agents()) await stopProcess(agent, clock, STOP_MS);
    },
    async start(program) {
      const [node = '', ...args] = commandOf(program);
      await mkdir(dirname(logFile), { recursive: true });
      await startProcess({ program: node, args }, logFile);
    },
    logTail: (maxBytes) => readCleanLogTail(logFile, maxBytes),
  };
}

async function pidsOf(commands: readonly (readonly string[])[]): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await listPids()) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1);
    if (commands.some((command) => isDeepStrictEqual(command, words))) found.push(pid);
  }
  return found;
}
